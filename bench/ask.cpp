// SPDX-License-Identifier: BSD-3-Clause

// Measures how long a body waits for the answer of another actor. Baseline: raw
// CAF requests without a time-out, which is not possible in a body.

#include <caf/event_based_actor.hpp>

#include <chrono>
#include <string>
#include <vector>

#include "client.hpp"
#include "row.hpp"
#include "sample.hpp"

namespace tertulia::bench {

namespace {

using text = std::string;

caf::behavior raw_echo(caf::event_based_actor*) {
  return {[](text& x) { return std::move(x); }};
}

/// Sends as many requests to `peer` as each input specifies.
struct asking_body {
  task<> operator()(context ctx, input<std::uint64_t> in,
                    output<std::uint64_t> out) const {
    const auto value = sample<text>();
    while (auto count = co_await in.next()) {
      for (std::uint64_t i = 0; i < *count; ++i)
        if (co_await ctx.ask<text>(peer, std::chrono::seconds{10}, value)
            != value)
          throw status_error{errc::internal, "an answer is wrong"};
      co_await out.send(*count);
    }
  }

  caf::actor peer;
};

class asking_client : public client_state {
public:
  using client_state::client_state;

private:
  void on_start(std::uint64_t operations) override {
    if (operations == 0)
      connect();
    else
      say(payload::of(operations));
  }

  void on_opened() override {
    arrive();
  }

  void on_chunks(chunk_batch&) override {
    arrive();
  }
};

class raw_asker_state {
public:
  explicit raw_asker_state(caf::event_based_actor* self) : self_(self) {}

  caf::behavior make_behavior(finish_line& line) {
    line_ = &line;
    peer_ = self_->spawn(raw_echo);
    return {[this](caf::ping_atom, std::uint64_t operations) {
      left_ = operations;
      ask();
    }};
  }

private:
  void ask() {
    self_->request(peer_, caf::infinite, value_).then([this](text& received) {
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
  const text value_ = sample<text>();
  std::uint64_t left_ = 0;
};

class ask_question final : public question {
public:
  ask_question() {
    auto flow = stage_.rt.define_bidi_flow(
      "ask", asking_body{stage_.system.spawn(raw_echo)});
    client_.push_back(spawn_client<asking_client>(stage_, opener_of(flow)));
    raw_client_.push_back(spawn_raw_client<raw_asker_state>(stage_));
    time_each(stage_, client_, 0); // opens the connection
  }

  double ours(std::size_t operations) override {
    return time_each(stage_, client_, operations);
  }

  double baseline(std::size_t operations) override {
    return time_each(stage_, raw_client_, operations);
  }

private:
  stage stage_;
  std::vector<client_actor> client_;
  std::vector<caf::actor> raw_client_;
};

const enrol row_of_ask{{.name = "ask",
                        .unit = "us",
                        .operations = 20'000,
                        .make = make_question<ask_question>}};

} // namespace

} // namespace tertulia::bench
