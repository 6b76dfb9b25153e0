// SPDX-License-Identifier: BSD-3-Clause

// Measures the duration of a whole short conversation: open, one input, its
// chunk, close, completion message. Baseline: raw CAF spawns an actor that
// answers once and quits.

#include <tertulia/chunks.hpp>

#include <caf/event_based_actor.hpp>

#include <string>
#include <vector>

#include "client.hpp"
#include "row.hpp"
#include "sample.hpp"

namespace tertulia::bench {

namespace {

using text = std::string;

class short_client : public client_state {
public:
  using client_state::client_state;

private:
  void on_start(std::uint64_t operations) override {
    left_ = operations;
    connect();
  }

  void on_opened() override {
    say(payload::of(value_));
  }

  void on_chunks(chunk_batch& x) override {
    const auto received = std::move(x.items).take<chunks<text>>();
    if (received.size() != 1 || received.front() != value_)
      return fail("an echo is wrong");
    close();
  }

  void on_finished() override {
    if (--left_ == 0)
      arrive();
    else
      connect();
  }

  const text value_ = sample<text>();
  std::uint64_t left_ = 0;
};

caf::behavior answer_once(caf::event_based_actor* self) {
  return {[self](text& x) {
    self->quit();
    return std::move(x);
  }};
}

class raw_opener_state {
public:
  explicit raw_opener_state(caf::event_based_actor* self) : self_(self) {}

  caf::behavior make_behavior(finish_line& line) {
    line_ = &line;
    return {[this](caf::ping_atom, std::uint64_t operations) {
      left_ = operations;
      next();
    }};
  }

private:
  void next() {
    self_->request(self_->spawn(answer_once), caf::infinite, value_)
      .then([this](const text& received) {
        if (received != value_)
          return line_->fail("a raw echo is wrong");
        if (--left_ == 0)
          line_->arrive();
        else
          next();
      });
  }

  caf::event_based_actor* self_;
  finish_line* line_ = nullptr;
  const text value_ = sample<text>();
  std::uint64_t left_ = 0;
};

class open_close final : public question {
public:
  open_close() {
    auto flow = stage_.rt.define_bidi_flow("echo", echo<text>);
    client_.push_back(spawn_client<short_client>(stage_, opener_of(flow)));
    raw_client_.push_back(spawn_raw_client<raw_opener_state>(stage_));
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

const enrol open_close_row{{.name = "open_close",
                            .unit = "us",
                            .promise = target::at_most(26),
                            .operations = 5'000,
                            .make = make_question<open_close>}};

} // namespace

} // namespace tertulia::bench
