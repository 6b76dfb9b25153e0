// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/span_recorder.hpp>
#include <tertulia/trace.hpp>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tertulia::test::trace_threads_tests {

namespace {

/// Sink that counts calls from many threads at once.
class counting_sink : public span_sink {
public:
  void on_start(const span_data&) noexcept override {
    ++starts;
  }

  void on_end(std::shared_ptr<const span_data> x) noexcept override {
    ++ends;
    if (!x->end || x->name != "work" || x->find("n") == nullptr)
      ++torn;
  }

  std::atomic<int> starts = 0;
  std::atomic<int> ends = 0;
  std::atomic<int> torn = 0;
};

} // namespace

TEST(trace_threads, spans_of_many_threads_are_heard_while_sinks_come_and_go) {
  constexpr int workers = 4;
  constexpr int each = 2'000;
  const auto constant = std::make_shared<counting_sink>();
  tracer spans;
  const auto recorder = std::make_shared<span_recorder>(32);
  const auto recording = spans.listen(recorder);
  auto watching = spans.listen(constant);
  std::atomic<int> running = workers;
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < each; ++n) {
        auto x = spans.start("work");
        x.set_attribute("n", n);
        x.add_event("tick");
      }
      --running;
    });
  int visits = 0;
  for (; visits == 0 || running > 0; ++visits) {
    auto visitor = std::make_shared<counting_sink>();
    auto visit = spans.listen(visitor);
    EXPECT_LE(recorder->spans().size(), 32u);
    visit.stop();
    EXPECT_EQ(visitor->torn, 0);
  }
  for (auto& x : threads)
    x.join();
  EXPECT_EQ(constant->starts, workers * each);
  EXPECT_EQ(constant->ends, workers * each);
  EXPECT_EQ(constant->torn, 0);
  EXPECT_EQ(recorder->spans().size(), 32u);
  watching.stop();
  EXPECT_EQ(constant.use_count(), 1);
}

TEST(trace_threads, a_span_records_exactly_if_a_sink_heard_its_start) {
  tracer spans;
  const auto sink = std::make_shared<counting_sink>();
  std::atomic<bool> done = false;
  int recorded = 0;
  std::thread worker{[&] {
    // Continues until both states have occurred, so the test cannot miss them.
    for (int off = 0; recorded < 500 || off < 500;) {
      auto x = spans.start("work");
      x.set_attribute("n", 1);
      x.context() != nullptr ? ++recorded : ++off;
    }
    done = true;
  }};
  while (!done) {
    auto watching = spans.listen(sink);
    watching.stop();
  }
  worker.join();
  EXPECT_EQ(sink->starts, recorded);
  EXPECT_LE(sink->ends, recorded);
  EXPECT_EQ(sink->torn, 0);
}

} // namespace tertulia::test::trace_threads_tests
