// SPDX-License-Identifier: BSD-3-Clause

// Measures how long a body waits for the answer of another actor. Baseline: raw
// CAF requests without a time-out, which is not possible in a body.

#include <chrono>
#include <string>

#include "client.hpp"
#include "raw_echo.hpp"
#include "row.hpp"
#include "sample.hpp"

namespace tertulia::bench {

namespace {

using text = std::string;

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

class asking_client : public staying_client {
public:
  using staying_client::staying_client;

private:
  void next() override {
    say(payload::of(left()));
  }

  void on_chunks(chunk_batch&) override {
    end(left());
  }
};

class ask_question final : public client_question {
public:
  ask_question() {
    add_client<asking_client>(opener_of(stage_.rt.define_bidi_flow(
      "ask", asking_body{stage_.system.spawn(raw_echo<text>)})));
    add_raw_client<raw_echo_client<text>>();
    connect();
  }
};

const enrol row_of_ask{
  {.name = "ask", .operations = 20'000, .make = make_question<ask_question>}};

} // namespace

} // namespace tertulia::bench
