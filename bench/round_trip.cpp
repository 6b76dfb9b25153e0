// SPDX-License-Identifier: BSD-3-Clause

// Measures the time from one input, through the body, to its chunk at the
// client.

#include <tertulia/chunks.hpp>

#include <string>

#include "client.hpp"
#include "raw_echo.hpp"
#include "row.hpp"
#include "sample.hpp"

namespace tertulia::bench {

namespace {

template <class T>
class echo_client : public staying_client {
public:
  using staying_client::staying_client;

private:
  void next() override {
    say(payload::of(value_));
  }

  void on_chunks(chunk_batch& x) override {
    const auto received = std::move(x).template take<T>();
    if (received.size() != 1 || received.front() != value_)
      return fail("an echo is wrong");
    end();
  }

  const T value_ = sample<T>();
};

template <class T>
class round_trip final : public client_question {
public:
  explicit round_trip(int conversations) {
    const auto flow = stage_.rt.define_bidi_flow("echo", echo<T>);
    for (int i = 0; i < conversations; ++i) {
      add_client<echo_client<T>>(opener_of(flow));
      add_raw_client<raw_echo_client<T>>();
    }
    connect();
  }
};

const enrol rows_of_round_trip[] = {
  enrol{{.name = "round_trip",
         .promise = target::at_most_times_baseline(1.2),
         .operations = 50'000,
         .make = make_question<round_trip<std::string>, 1>}},
  enrol{{.name = "round_trip_64",
         .promise = target::at_most_times_baseline(1.2),
         .operations = 100'000,
         .smoke_operations = 640,
         .make = make_question<round_trip<std::string>, 64>}},
  enrol{{.name = "round_trip_int",
         .operations = 50'000,
         .make = make_question<round_trip<int>, 1>}},
};

} // namespace

} // namespace tertulia::bench
