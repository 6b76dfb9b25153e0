// SPDX-License-Identifier: BSD-3-Clause

// Measures the time from one input, through the body, to its chunk at the
// client.

#include <tertulia/chunks.hpp>

#include <string>
#include <vector>

#include "client.hpp"
#include "raw_echo.hpp"
#include "row.hpp"
#include "sample.hpp"

namespace tertulia::bench {

namespace {

template <class T>
class echo_client : public client_state {
public:
  using client_state::client_state;

private:
  void on_start(std::uint64_t operations) override {
    left_ = operations;
    if (left_ == 0)
      connect();
    else
      say(payload::of(value_));
  }

  void on_opened() override {
    arrive();
  }

  void on_chunks(chunk_batch& x) override {
    const auto received = std::move(x.items).template take<chunks<T>>();
    if (received.size() != 1 || received.front() != value_)
      return fail("an echo is wrong");
    if (--left_ == 0)
      arrive();
    else
      say(payload::of(value_));
  }

  const T value_ = sample<T>();
  std::uint64_t left_ = 0;
};

template <class T>
class round_trip final : public question {
public:
  explicit round_trip(int conversations) {
    auto flow = stage_.rt.define_bidi_flow("echo", echo<T>);
    for (int i = 0; i < conversations; ++i) {
      clients_.push_back(spawn_client<echo_client<T>>(stage_, opener_of(flow)));
      raw_clients_.push_back(spawn_raw_client<raw_echo_client<T>>(stage_));
    }
    time_each(stage_, clients_, 0); // opens the connections
  }

  double ours(std::size_t operations) override {
    return time_each(stage_, clients_, operations);
  }

  double baseline(std::size_t operations) override {
    return time_each(stage_, raw_clients_, operations);
  }

private:
  stage stage_;
  std::vector<client_actor> clients_;
  std::vector<caf::actor> raw_clients_;
};

const enrol rows_of_round_trip[] = {
  enrol{{.name = "round_trip",
         .unit = "us",
         .promise = target::at_most_times_baseline(1.5),
         .operations = 50'000,
         .make = make_question<round_trip<std::string>, 1>}},
  enrol{{.name = "round_trip_64",
         .unit = "us",
         .promise = target::at_most_times_baseline(1.5),
         .operations = 100'000,
         .smoke_operations = 640,
         .make = make_question<round_trip<std::string>, 64>}},
  enrol{{.name = "round_trip_int",
         .unit = "us",
         .operations = 50'000,
         .make = make_question<round_trip<int>, 1>}},
};

} // namespace

} // namespace tertulia::bench
