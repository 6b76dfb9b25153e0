// SPDX-License-Identifier: BSD-3-Clause

// Blocking calls that wait for a thread.

#include "support/threaded.hpp"

using namespace std::literals;

namespace tertulia::test::run_blocking_queue_tests {

namespace {

/// Fixture whose runtime has a single thread, which is blocked.
struct run_blocking_queue : threaded {
  template <class Body>
  auto define(Body body) {
    return rt->new_bidi_action("body", std::move(body));
  }

  run_blocking_queue() {
    restart(runtime_options{.blocking_threads = 1, .max_blocking_queue = 1});
    const auto flow = define([this](context ctx, input<int>, output<int>) //
                             -> task<> {
      co_await ctx.run_blocking([this] {
        started.open();
        release.wait();
      });
    });
    busy.emplace(flow.stream_bidi());
    started.wait();
  }

  gate started;
  gate release;
  std::optional<connection<int, nothing, int>> busy;
};

/// Member of a function object that logs the destruction of the object.
class held {
public:
  explicit held(std::vector<std::string>& log) noexcept : log_(&log) {}

  held(held&& other) noexcept : log_(std::exchange(other.log_, nullptr)) {}

  held& operator=(held&& other) noexcept {
    std::swap(log_, other.log_);
    return *this;
  }

  ~held() {
    if (log_ != nullptr)
      log_->push_back("function");
  }

private:
  std::vector<std::string>* log_;
};

/// Function object with a constructor, so that g++ 12 accepts it in a
/// `co_await`.
class holding_call {
public:
  holding_call(std::vector<std::string>& log, std::atomic<bool>& called)
    : holds_(log), called_(&called) {}

  void operator()() const {
    *called_ = true;
  }

private:
  held holds_;
  std::atomic<bool>* called_;
};

} // namespace

TEST_F(run_blocking_queue, a_call_for_which_there_is_no_room_is_refused) {
  const auto flow = define([](context ctx, input<int>, output<int> out) //
                           -> task<int> {
    const auto call = [] { return 7; };
    const auto first = [](context ctx, output<int> out, auto call) //
      -> task<int> {
      auto waiting = ctx.run_blocking(call);
      co_await out.send(1);
      co_return co_await std::move(waiting);
    };
    const auto second = [](context ctx, output<int> out, auto call) //
      -> task<int> {
      const auto refused = co_await as_expected(ctx.run_blocking(call));
      co_await out.send(refused ? 0
                                : static_cast<int>(code_of(refused.error())));
      co_return 0;
    };
    const auto [x, y]
      = co_await when_all(first(ctx, out, call), second(ctx, out, call));
    co_return x + y;
  });
  auto talk = flow.stream_bidi();
  auto seen = talk.responses(patience);
  auto at = seen.begin();
  EXPECT_EQ(*at, 1);
  EXPECT_EQ(*++at, static_cast<int>(errc::resource_exhausted));
  release.open();
  EXPECT_EQ(talk.output(patience), 7);
}

TEST_F(run_blocking_queue, a_body_that_fails_takes_its_calls_back) {
  std::atomic<int> ran = 0;
  const auto greedy = define([&](context ctx, input<int>, output<int>) //
                             -> task<int> {
    const witness here;
    co_await when_all(ctx.run_blocking([&] { ++ran; }),
                      ctx.run_blocking([&] { ++ran; }));
    co_return 0;
  });
  for (auto i = 0; i < 5; ++i) {
    auto talk = greedy.stream_bidi();
    const auto error = error_of([&] { talk.output(patience); });
    EXPECT_EQ(error.code(), errc::resource_exhausted);
    EXPECT_EQ(error.message(), "too many blocking calls wait for a thread");
  }
  release.open();
  busy->output(patience);
  EXPECT_EQ(ran, 0);
  const auto modest = define(
    [](context ctx, input<int>, output<int>) //
    -> task<int> { co_return co_await ctx.run_blocking([] { return 1; }); });
  // The thread has told that it is free before it reaches the calls that were
  // taken back, which keep their room until then.
  const auto is_run = [&] {
    try {
      return modest.stream_bidi().output(patience) == 1;
    } catch (const status_error& x) {
      if (x.code() != errc::resource_exhausted)
        throw;
      return false;
    }
  };
  EXPECT_TRUE(eventually(is_run)) << "there is room again";
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(run_blocking_queue, a_call_that_has_not_begun_is_dropped_at_once) {
  std::vector<std::string> log;
  std::atomic<bool> called = false;
  gate ended;
  const auto flow = define([&](context ctx, input<int> in, output<int>) //
                           -> task<> {
    try {
      co_await when_any(in.next(), ctx.run_blocking(holding_call{log, called}));
      log.push_back("body");
    } catch (...) {
      log.push_back("failed");
    }
    ended.open();
  });
  auto talk = flow.stream_bidi();
  talk.send(1);
  talk.output(patience);
  ended.wait();
  EXPECT_EQ(log, (std::vector{"function"s, "body"s}));
  release.open();
  busy->output(patience);
  rt.reset();
  EXPECT_FALSE(called);
}

TEST_F(run_blocking_queue, what_a_function_holds_is_gone_when_it_has_returned) {
  release.open();
  for (int i = 0; i < 100; ++i) {
    std::vector<std::string> log;
    std::atomic<bool> called = false;
    const auto flow = define([&](context ctx, input<int>, output<int>) //
                             -> task<> {
      co_await ctx.run_blocking(holding_call{log, called});
      log.push_back("body");
    });
    auto talk = flow.stream_bidi();
    talk.output(patience);
    ASSERT_EQ(log, (std::vector{"function"s, "body"s}));
  }
}

} // namespace tertulia::test::run_blocking_queue_tests
