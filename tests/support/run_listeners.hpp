// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/actor_client.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace tertulia::test {

/// What the clients of many runs have heard: all clients of a run hear the same
/// under the same number.
class heard_runs {
public:
  /// Notes what has the number before that of a position.
  void note(const cursor& next, const std::string& what) {
    const auto [at, is_new]
      = entries_.emplace(std::pair{next.run.str(), next.number - 1}, what);
    EXPECT_EQ(at->second, what)
      << "number " << next.number - 1 << " of run " << next.run.str();
    agreed_ += is_new ? 0 : 1;
  }

  void note_output(const run_id& run) {
    completed_.insert(run.str());
  }

  [[nodiscard]] bool has_output_of(const run_id& run) const {
    return completed_.contains(run.str());
  }

  /// Returns how many things were heard by more than one client.
  [[nodiscard]] std::uint64_t agreed() const noexcept {
    return agreed_;
  }

private:
  std::map<std::pair<std::string, std::uint64_t>, std::string> entries_;
  std::set<std::string> completed_;
  std::uint64_t agreed_ = 0;
};

/// What one client hears: in each run each number follows the one before.
class heard_sequence {
public:
  /// Begins at a position; anywhere if it has no run.
  void begin(cursor at) {
    last_ = std::move(at);
  }

  /// Returns the position after what was heard last.
  [[nodiscard]] const cursor& last() const noexcept {
    return last_;
  }

  void hear(heard_runs& all, const cursor& next, const std::string& what) {
    if (last_.run == next.run) {
      EXPECT_EQ(next.number, last_.number + 1) << next.run.str();
    }
    last_ = next;
    all.note(next, what);
  }

private:
  cursor last_;
};

/// Client that only listens.
template <class Handle>
struct listener : actor_client<Handle> {
  using base = actor_client<Handle>;
  using base::base;

  void on_open(const open_result& x) override {
    if (from.run) {
      EXPECT_EQ(x.attached.next, from.number);
    }
    sequence.begin(from);
  }

  void on_chunk(typename base::stream_type& x) override {
    sequence.hear(*heard, this->position(), x.chunk ? x.chunk->text() : "");
  }

  void on_turn_end() override {
    sequence.hear(*heard, this->position(), "the turn has ended");
  }

  void on_output(typename base::out_type&) override {
    heard->note_output(this->position().run);
  }

  void on_error(const status_error&) override {
    // It listens again, or not.
  }

  heard_runs* heard = nullptr;
  heard_sequence sequence;
  cursor from; ///< where it begins; without a run at the turn under way
};

} // namespace tertulia::test
