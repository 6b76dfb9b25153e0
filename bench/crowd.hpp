// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "client.hpp"

namespace tertulia::bench {

/// A client of many connections at once. Receives the number to open, and later
/// the request to close all of them.
using crowd_actor = chunk_sink::extend<
  caf::replies_to<caf::ping_atom, std::uint64_t>::with<void>,
  caf::replies_to<caf::close_atom>::with<void>>;

/// Common base of crowds: they send the same input on each connection and keep
/// a handle to it. The end of each connection counts as an arrival.
///
/// Crowds grant no credit: an answer must fit into the window.
class crowd_state {
public:
  static inline const char* name = "bench.crowd";

  explicit crowd_state(crowd_actor::pointer self) : self_(self) {}

  crowd_state(const crowd_state&) = delete;
  crowd_state& operator=(const crowd_state&) = delete;
  virtual ~crowd_state() = default;

  /// @param first     first input of each conversation.
  /// @param at_a_time number of connections to open before `open_next` opens
  ///                  more.
  crowd_actor::behavior_type make_behavior(stage& bench_stage, opener opening,
                                           payload first,
                                           std::uint64_t at_a_time);

protected:
  virtual void on_chunks(chunk_batch&) {}

  virtual void on_turn_end() {}

  void arrive() {
    line_->arrive();
  }

  /// Opens another connection unless all have been opened.
  void open_next();

private:
  crowd_actor::pointer self_;
  finish_line* line_ = nullptr;
  front_desk_actor desk_;
  opener opening_;
  payload first_;
  std::vector<connection_actor> connections_;
  std::uint64_t to_open_ = 0;
};

/// Spawns a crowd with that state.
/// @lifetime must not outlive the stage.
template <class State>
crowd_actor spawn_crowd(stage& bench_stage, opener opening, payload first,
                        std::uint64_t at_a_time) {
  return bench_stage.system.spawn(
    [&bench_stage](crowd_actor::stateful_pointer<State> self, opener opening,
                   payload first, std::uint64_t at_a_time) {
      return self->state.make_behavior(bench_stage, std::move(opening),
                                       std::move(first), at_a_time);
    },
    std::move(opening), std::move(first), at_a_time);
}

} // namespace tertulia::bench
