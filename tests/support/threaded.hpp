// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/runtime.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/bodies.hpp"
#include "support/refusal.hpp"
#include <gtest/gtest.h>

namespace tertulia::test {

/// Time-out that ends a test that would otherwise hang; no test comes near it.
inline constexpr auto patience = std::chrono::seconds{30};

/// Waits until the condition holds.
/// @returns false if it did not hold in time.
template <class Condition>
bool eventually(Condition holds) {
  const auto limit = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > limit)
      return false;
    std::this_thread::yield();
  }
  return true;
}

/// Event that happens once, and that threads and bodies wait for. Copies share
/// one gate. A waiting thread keeps the shared state alive, so a gate may be
/// destroyed as soon as it is open.
class gate {
public:
  void open() const {
    state_->opened.set_value();
  }

  void wait() const {
    const auto held = state_;
    ASSERT_EQ(held->open.wait_for(patience), std::future_status::ready);
  }

private:
  struct state {
    std::promise<void> opened;
    std::shared_future<void> open{opened.get_future()};
  };

  std::shared_ptr<state> state_ = std::make_shared<state>();
};

/// Fixture with a runtime on CAF's own scheduler, for clients that are threads.
class threaded : public ::testing::Test {
protected:
  threaded() : system(cfg), rt(std::in_place, system) {
    count_from_here();
  }

  /// Counts all running actors as part of the idle runtime.
  void count_from_here() {
    baseline_ = system.registry().running();
  }

  void restart(const runtime_options& options) {
    rt.reset();
    rt.emplace(system, options);
  }

  /// Returns whether every connection and the frame of its body come to an end.
  bool nothing_is_left() {
    return eventually([this] {
      return system.registry().running() == baseline_ && witness::alive() == 0;
    });
  }

  /// Returns the error of an attempt to open an action, or the action of a key.
  template <class Action, class... Options>
  status_error opening_error(const Action& action, const Options&... options) {
    return error_of([&] {
      if constexpr (std::is_convertible_v<const Action&, std::string>)
        (void)rt->stream_bidi(action, options...);
      else
        (void)action.stream_bidi(options...);
    });
  }

  template <class... Args>
  errc opening_code(const Args&... args) {
    return opening_error(args...).code();
  }

  auto define_echo() {
    return rt->define_bidi_flow("echo", echo_inputs);
  }

  auto define_counter() {
    return rt->define_bidi_flow("counter", count_on);
  }

  config cfg;
  caf::actor_system system;
  std::optional<runtime> rt;

private:
  std::size_t baseline_ = 0;
};

/// Reads one turn.
template <class In, class Out, class Stream>
std::vector<Stream> read_turn(connection<In, Out, Stream>& talk) {
  std::vector<Stream> result;
  for (auto& chunk : talk.responses(patience))
    result.push_back(std::move(chunk));
  return result;
}

} // namespace tertulia::test
