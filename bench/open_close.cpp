// SPDX-License-Identifier: BSD-3-Clause

// Measures the duration of a whole short conversation: open, one input, its
// chunk, close, completion message. Baseline: raw CAF spawns an actor that
// answers once and quits.

#include <tertulia/chunks.hpp>

#include <string>

#include "client.hpp"
#include "raw_echo.hpp"
#include "row.hpp"
#include "sample.hpp"

namespace tertulia::bench {

namespace {

using text = std::string;

class short_client : public returning_client {
public:
  using returning_client::returning_client;

private:
  void on_opened() override {
    say(payload::of(value_));
  }

  void on_chunks(chunk_batch& x) override {
    const auto received = std::move(x).take<text>();
    if (received.size() != 1 || received.front() != value_)
      return fail("an echo is wrong");
    close();
  }

  const text value_ = sample<text>();
};

class open_close final : public client_question {
public:
  open_close() {
    add_client<short_client>(
      opener_of(stage_.rt.define_bidi_flow("echo", echo<text>)));
    add_raw_client<raw_echo_client<text, raw_peers::one_per_request>>();
  }
};

const enrol open_close_row{{.name = "open_close",
                            .promise = target::at_most(26),
                            .operations = 5'000,
                            .make = make_question<open_close>}};

} // namespace

} // namespace tertulia::bench
