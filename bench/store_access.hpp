// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/status.hpp>

#include <caf/scoped_actor.hpp>

#include <chrono>
#include <cstddef>
#include <utility>

#include "../tests/support/scratch.hpp"

// Stores as the main thread uses them, and the time that it spends on them.

namespace tertulia::bench {

using test::scratch;

/// @returns the duration of one call in microseconds.
template <class Fn>
double time_calls(std::size_t calls, Fn fn) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < calls; ++i)
    fn();
  const std::chrono::duration<double, std::micro> all
    = std::chrono::steady_clock::now() - begin;
  return all.count() / static_cast<double>(calls);
}

/// Asks a store and waits for the answer.
template <class Answer, class Store, class Verb>
Answer ask(const caf::scoped_actor& self, const Store& store, const Verb& x) {
  Answer result;
  self->request(store, std::chrono::minutes{1}, x)
    .receive([&](Answer& y) { result = std::move(y); },
             [](caf::error& y) { raise(y); });
  return result;
}

/// Sends the requests `next(0)` to `next(count - 1)`, and waits for all
/// answers. At most 1 000 requests are unanswered at a time.
template <class Answer, class Store, class Next>
void ask_all(const caf::scoped_actor& self, const Store& store,
             std::size_t count, Next next) {
  std::size_t unanswered = 0;
  for (std::size_t i = 0; i < count || unanswered > 0;) {
    if (i < count && unanswered < 1'000) {
      self->send(store, next(i++));
      ++unanswered;
    } else {
      self->receive([](const Answer&) {}, [](caf::error& y) { raise(y); });
      --unanswered;
    }
  }
}

} // namespace tertulia::bench
