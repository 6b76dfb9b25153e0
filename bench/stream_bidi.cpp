// SPDX-License-Identifier: BSD-3-Clause

// Measures the time per chunk when one input is answered by a thousand chunks,
// with the default window. Baseline: raw CAF sends a message per chunk, without
// credit.

#include <tertulia/chunks.hpp>

#include <caf/event_based_actor.hpp>

#include <string>

#include "client.hpp"
#include "row.hpp"
#include "sample.hpp"

namespace tertulia::bench {

namespace {

constexpr std::uint64_t chunks_per_input = 1'000;

/// Answers every number with that many chunks.
template <class T>
task<> pour(context, input<std::uint64_t> in, output<T> out) {
  const auto value = sample<T>();
  while (auto count = co_await in.next())
    for (std::uint64_t i = 0; i < *count; ++i)
      co_await out.send(value);
}

template <class T>
class drain_client : public staying_client {
public:
  using staying_client::staying_client;

private:
  void next() override {
    chunks_left_ = chunks_per_input;
    say(payload::of(chunks_per_input));
  }

  void on_chunks(chunk_batch& x) override {
    const auto received = std::move(x).template take<T>();
    for (const auto& chunk : received)
      if (chunk != value_)
        return fail("a chunk is wrong");
    chunks_left_ -= received.size();
    if (chunks_left_ > 0)
      grant();
    else
      end(chunks_per_input);
  }

  const T value_ = sample<T>();
  std::uint64_t chunks_left_ = 0;
};

template <class T>
caf::behavior raw_pour(caf::event_based_actor* self) {
  return {[self](caf::get_atom, std::uint64_t count) {
    const auto value = sample<T>();
    const auto client = caf::actor_cast<caf::actor>(self->current_sender());
    for (std::uint64_t i = 0; i < count; ++i)
      self->send(client, value);
  }};
}

template <class T>
class raw_drain_state {
public:
  explicit raw_drain_state(caf::event_based_actor* self) : self_(self) {}

  caf::behavior make_behavior(finish_line& line) {
    line_ = &line;
    peer_ = self_->spawn(raw_pour<T>);
    return {
      [this](const T& chunk) {
        if (chunk != value_)
          return line_->fail("a raw chunk is wrong");
        if (--chunks_left_ > 0)
          return;
        if (--inputs_left_ > 0)
          next();
        else
          line_->arrive();
      },
      [this](caf::ping_atom, std::uint64_t operations) {
        inputs_left_ = operations / chunks_per_input;
        next();
      },
    };
  }

private:
  void next() {
    chunks_left_ = chunks_per_input;
    self_->send(peer_, caf::get_atom_v, chunks_per_input);
  }

  caf::event_based_actor* self_;
  finish_line* line_ = nullptr;
  caf::actor peer_;
  const T value_ = sample<T>();
  std::uint64_t inputs_left_ = 0;
  std::uint64_t chunks_left_ = 0;
};

template <class T>
class stream_bidi final : public client_question {
public:
  stream_bidi() {
    add_client<drain_client<T>>(
      opener_of(stage_.rt.define_bidi_flow("pour", pour<T>)));
    add_raw_client<raw_drain_state<T>>();
    connect();
  }
};

const enrol rows_of_stream_bidi[] = {
  enrol{{.name = "stream_bidi",
         .promise = target::at_most(0.06),
         .operations = 500'000,
         .smoke_operations = 10'000,
         .make = make_question<stream_bidi<std::string>>}},
  enrol{{.name = "stream_bidi_int",
         .operations = 500'000,
         .smoke_operations = 10'000,
         .make = make_question<stream_bidi<int>>}},
};

} // namespace

} // namespace tertulia::bench
