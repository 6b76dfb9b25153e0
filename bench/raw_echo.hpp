// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/event_based_actor.hpp>

#include <cstdint>
#include <utility>

#include "sample.hpp"
#include "stage.hpp"

// One request and its response between two actors: the minimum for a turn in
// raw CAF.

namespace tertulia::bench {

/// Answers every message with itself.
template <class T>
caf::behavior raw_echo(caf::event_based_actor*) {
  return {[](T& x) { return std::move(x); }};
}

/// Answers one message with itself and quits.
template <class T>
caf::behavior answer_once(caf::event_based_actor* self) {
  return {[self](T& x) {
    self->quit();
    return std::move(x);
  }};
}

/// Peers of a `raw_echo_client`.
enum class raw_peers { one, one_per_request };

/// Runs the given number of round trips with echo actors of its own.
template <class T, raw_peers Peers = raw_peers::one>
class raw_echo_client {
public:
  explicit raw_echo_client(caf::event_based_actor* self) : self_(self) {}

  caf::behavior make_behavior(finish_line& line) {
    line_ = &line;
    if constexpr (Peers == raw_peers::one)
      peer_ = self_->spawn(raw_echo<T>);
    return {[this](caf::ping_atom, std::uint64_t operations) {
      left_ = operations;
      ask();
    }};
  }

private:
  caf::actor peer() {
    if constexpr (Peers == raw_peers::one)
      return peer_;
    else
      return self_->spawn(answer_once<T>);
  }

  void ask() {
    self_->request(peer(), caf::infinite, value_).then([this](T& received) {
      if (received != value_)
        return line_->fail("a raw echo is wrong");
      if (--left_ == 0)
        line_->arrive();
      else
        ask();
    });
  }

  caf::event_based_actor* self_;
  finish_line* line_ = nullptr;
  caf::actor peer_;
  const T value_ = sample<T>();
  std::uint64_t left_ = 0;
};

} // namespace tertulia::bench
