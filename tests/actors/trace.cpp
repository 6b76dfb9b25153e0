// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/descriptor.hpp>
#include <tertulia/span_recorder.hpp>
#include <tertulia/trace.hpp>

#include <optional>
#include <string>
#include <vector>

#include "support/nested.hpp"
#include <gtest/gtest.h>

using namespace std::literals;

namespace tertulia::test::trace_tests {

namespace {

/// Sink that records every call.
class recording_sink : public span_sink {
public:
  void on_start(const span_data& x) noexcept override {
    received.push_back("start " + x.name + (x.end ? " ended" : ""));
  }

  void on_event(const span_context&, const span_event& x) noexcept override {
    received.push_back("event " + x.name);
  }

  void on_end(std::shared_ptr<const span_data> x) noexcept override {
    received.push_back("end " + x->name);
  }

  std::vector<std::string> received;
};

struct trace : ::testing::Test {
  std::shared_ptr<span_recorder> listen(std::size_t capacity = 16) {
    auto result = std::make_shared<span_recorder>(capacity);
    listening.push_back(spans.listen(result));
    return result;
  }

  tracer spans;
  std::vector<tracer::subscription> listening;
};

std::vector<std::string> names(const std::vector<span_recorder::record>& xs) {
  std::vector<std::string> result;
  for (const auto& x : xs)
    result.push_back(x->name);
  return result;
}

using strings = std::vector<std::string>;

} // namespace

// -- spans --------------------------------------------------------------------

TEST_F(trace, a_span_is_empty_when_nobody_listens) {
  auto x = spans.start("work");
  EXPECT_FALSE(spans.enabled());
  EXPECT_EQ(x.context(), nullptr);
  x.set_attribute("n", 1);
  x.add_event("tick", {{"n", 1}});
  x.set_error(errc::internal, "lost");
  const auto late = listen();
  x.end();
  EXPECT_TRUE(late->spans().empty());
}

TEST_F(trace, a_child_span_carries_the_trace_id_of_its_parent) {
  const auto recorder = listen();
  auto parent = spans.start("parent");
  auto child = spans.start("child", parent.context());
  const auto parent_context = *parent.context();
  EXPECT_EQ(child.context()->trace, parent_context.trace);
  EXPECT_NE(child.context()->span, parent_context.span);
  child.end();
  spans.start("other").end();
  parent.end();
  EXPECT_EQ(names(recorder->children_of(parent_context.span)),
            strings{"child"});
  EXPECT_EQ(recorder->find("parent")->parent, std::nullopt);
  EXPECT_NE(recorder->find("other")->context.trace, parent_context.trace);
}

TEST_F(trace, a_child_inherits_the_decision_of_a_remote_parent) {
  const auto recorder = listen();
  auto remote = *parse_traceparent(
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  EXPECT_TRUE(spans.start("kept", &remote).context()->sampled);
  remote.sampled = false;
  EXPECT_FALSE(spans.start("not kept", &remote).context()->sampled);
  EXPECT_EQ(names(recorder->children_of(remote.span)),
            (strings{"kept", "not kept"}));
}

TEST_F(trace, a_record_tells_what_was_said_on_the_span) {
  const auto recorder = listen();
  const auto before = caf::make_timestamp();
  {
    auto x = spans.start("work");
    x.set_attribute("genkit:metadata:snapshotId", "abc");
    x.set_attribute("final", true);
    x.set_attribute("tokens", 7u);
    x.set_attribute("ratio", 0.5f);
    x.set_attribute("huge", UINT64_MAX);
    x.set_attribute("final", "replaced in its place"s);
    x.add_event("first", {{"word", "hello"}, {"n", -1}});
    x.add_event("second");
    x.set_error(errc::unavailable, "first reason");
    x.set_error(errc::cancelled, "last reason");
  }
  const auto x = recorder->find("work");
  ASSERT_TRUE(x);
  const std::vector<attribute> attributes = {
    {"genkit:metadata:snapshotId", "abc"s},
    {"final", "replaced in its place"s},
    {"tokens", std::int64_t{7}},
    {"ratio", 0.5},
    {"huge", INT64_MAX},
  };
  EXPECT_EQ(x->attributes, attributes);
  ASSERT_EQ(x->events.size(), 2u);
  EXPECT_EQ(x->events[0].name, "first");
  const std::vector<attribute> of_event
    = {{"word", "hello"s}, {"n", std::int64_t{-1}}};
  EXPECT_EQ(x->events[0].attributes, of_event);
  EXPECT_EQ(x->status, errc::cancelled);
  EXPECT_EQ(x->message, "last reason");
  EXPECT_GE(x->start, before);
  EXPECT_LE(x->start, x->events[0].time);
  EXPECT_LE(x->events[0].time, x->events[1].time);
  EXPECT_LE(x->events[1].time, *x->end);
  EXPECT_EQ(x->duration(), *x->end - x->start);
}

TEST_F(trace, a_child_lies_within_the_time_of_its_parent) {
  const auto recorder = listen(2);
  for (int i = 0; i < 20'000; ++i) {
    auto outer = spans.start("outer");
    auto inner = spans.start("inner", outer.context());
    inner.add_event("tick");
    inner.end();
    outer.end();
    const auto& parent = *recorder->find("outer");
    const auto& child = *recorder->find("inner");
    ASSERT_LE(parent.start, child.start);
    ASSERT_LE(child.start, child.events.front().time);
    ASSERT_LE(child.events.front().time, child.end);
    ASSERT_LE(child.end, parent.end);
    recorder->clear();
  }
}

TEST_F(trace, a_span_ends_once_however_it_is_moved_and_ended) {
  const auto recorder = listen();
  auto first = spans.start("first");
  auto moved = std::move(first);
  first.end();
  EXPECT_TRUE(recorder->spans().empty());
  moved = spans.start("second"); // ends the first span
  EXPECT_EQ(names(recorder->spans()), strings{"first"});
  moved.end();
  moved.end();
  EXPECT_EQ(moved.context(), nullptr);
  moved.set_attribute("too", "late");
  moved = span{};
  EXPECT_EQ(names(recorder->spans()), (strings{"first", "second"}));
  EXPECT_TRUE(recorder->find("second")->attributes.empty());
}

TEST_F(trace, a_record_keeps_a_bounded_number_of_entries) {
  const auto recorder = listen();
  const auto sink = std::make_shared<recording_sink>();
  const auto watching = spans.listen(sink);
  constexpr auto attributes = span_data::max_attributes;
  constexpr auto events = span_data::max_events;
  auto x = spans.start("long");
  for (std::size_t i = 0; i < attributes + 2; ++i)
    x.set_attribute("key " + std::to_string(i), i);
  x.set_attribute("key 0", "still replaceable");
  for (std::size_t i = 0; i < events + 3; ++i)
    x.add_event("event " + std::to_string(i));
  x.end();
  const auto record = recorder->find("long");
  EXPECT_EQ(record->attributes.size(), attributes);
  EXPECT_EQ(record->dropped_attributes, 2u);
  EXPECT_EQ(*record->find("key 0"), attribute_value{"still replaceable"s});
  EXPECT_EQ(record->find("key " + std::to_string(attributes)), nullptr);
  EXPECT_EQ(record->events.size(), events);
  EXPECT_EQ(record->events.back().name, "event " + std::to_string(events - 1));
  EXPECT_EQ(record->dropped_events, 3u);
  EXPECT_EQ(sink->received.size(), 1 + events + 3 + 1) << "all is heard live";
}

// -- sinks --------------------------------------------------------------------

TEST_F(trace, every_sink_hears_a_span_while_it_happens) {
  const auto one = std::make_shared<recording_sink>();
  const auto two = std::make_shared<recording_sink>();
  const auto first = spans.listen(one);
  const auto second = spans.listen(two);
  auto x = spans.start("work");
  const strings begun = {"start work"};
  EXPECT_EQ(one->received, begun);
  x.add_event("tick");
  const strings ticked = {"start work", "event tick"};
  EXPECT_EQ(one->received, ticked);
  x.end();
  const strings all = {"start work", "event tick", "end work"};
  EXPECT_EQ(one->received, all);
  EXPECT_EQ(two->received, all);
}

TEST_F(trace, a_sink_is_told_once_while_any_of_its_subscriptions_lives) {
  const auto sink = std::make_shared<recording_sink>();
  auto first = spans.listen(sink);
  auto second = std::make_optional(spans.listen(sink));
  auto x = spans.start("work");
  first.stop();
  first.stop(); // no effect
  x.add_event("tick");
  const strings told = {"start work", "event tick"};
  EXPECT_EQ(sink->received, told);
  second.reset();
  EXPECT_FALSE(spans.enabled());
  EXPECT_EQ(sink.use_count(), 1);
  x.end();
  EXPECT_EQ(sink->received, told);
}

TEST_F(trace, a_subscription_ends_where_it_was_moved_to) {
  const auto sink = std::make_shared<recording_sink>();
  tracer::subscription kept;
  {
    auto made = spans.listen(sink);
    kept = std::move(made);
  }
  EXPECT_TRUE(spans.enabled());
  const auto other = std::make_shared<recording_sink>();
  kept = spans.listen(other); // stops the first subscription
  EXPECT_EQ(sink.use_count(), 1);
  kept = {};
  EXPECT_FALSE(spans.enabled());
}

TEST_F(trace, a_subscription_may_outlive_its_tracer) {
  const auto sink = std::make_shared<recording_sink>();
  auto mine = std::make_unique<tracer>();
  {
    const auto watching = mine->listen(sink);
    mine.reset();
  }
  EXPECT_EQ(sink.use_count(), 1);
}

TEST_F(trace, a_sink_that_left_hears_nothing_more_and_is_let_go) {
  const auto left = std::make_shared<recording_sink>();
  auto leaving = spans.listen(left);
  auto x = spans.start("work");
  leaving.stop();
  EXPECT_FALSE(spans.enabled());
  EXPECT_EQ(left.use_count(), 1);
  const auto late = std::make_shared<recording_sink>();
  const auto watching = spans.listen(late);
  x.end();
  EXPECT_EQ(left->received, strings{"start work"});
  EXPECT_EQ(late->received, strings{"end work"});
}

TEST_F(trace, a_sink_may_leave_from_each_of_its_calls) {
  struct leaving_sink : span_sink {
    explicit leaving_sink(std::string at) : at(at) {}

    void leave(std::string now) noexcept {
      received.push_back(now);
      if (now == at)
        watching.stop(); // replaces the list during its iteration
    }

    void on_start(const span_data&) noexcept override {
      leave("start");
    }

    void on_event(const span_context&, const span_event&) noexcept override {
      leave("event");
    }

    void on_end(std::shared_ptr<const span_data>) noexcept override {
      leave("end");
    }

    tracer::subscription watching;
    std::string at;
    strings received;
  };
  const strings all = {"start", "event", "end"};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto leaving = std::make_shared<leaving_sink>(all[i]);
    const auto staying = std::make_shared<leaving_sink>("never");
    leaving->watching = spans.listen(leaving);
    staying->watching = spans.listen(staying);
    auto x = spans.start("work");
    x.add_event("tick");
    x.end();
    EXPECT_EQ(leaving->received.size(), i + 1) << all[i];
    EXPECT_EQ(leaving.use_count(), 1) << all[i];
    EXPECT_EQ(staying->received, all) << all[i];
    staying->watching.stop();
  }
}

TEST_F(trace, a_span_may_outlive_its_tracer_but_a_record_keeps_no_sink) {
  auto recorder = std::make_shared<span_recorder>(2);
  auto mine = std::make_unique<tracer>();
  auto watching = mine->listen(recorder);
  auto x = mine->start("work");
  mine.reset();
  x.end();
  watching.stop();
  const auto record = recorder->find("work");
  ASSERT_TRUE(record);
  const std::weak_ptr<span_recorder> watch = recorder;
  recorder.reset();
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(record->name, "work");
}

// -- the recorder -------------------------------------------------------------

TEST_F(trace, a_full_recorder_forgets_the_oldest) {
  const auto recorder = listen(3);
  for (auto name : {"a", "b", "c", "d", "b"})
    spans.start(name).end();
  EXPECT_EQ(names(recorder->spans()), (strings{"c", "d", "b"}));
  EXPECT_EQ(recorder->find("a"), nullptr);
  const auto all = recorder->spans();
  EXPECT_EQ(recorder->find("b"), all[2]);
}

TEST_F(trace, a_cleared_recorder_starts_over) {
  const auto recorder = listen(2);
  for (auto name : {"a", "b", "c"})
    spans.start(name).end();
  recorder->clear();
  EXPECT_TRUE(recorder->spans().empty());
  for (auto name : {"d", "e", "f"})
    spans.start(name).end();
  EXPECT_EQ(names(recorder->spans()), (strings{"e", "f"}));
}

TEST_F(trace, a_recorder_finds_the_latest_of_a_name) {
  const auto recorder = listen();
  spans.start("turn").end();
  auto last = spans.start("turn");
  const auto id = last.context()->span;
  last.end();
  EXPECT_EQ(recorder->find("turn")->context.span, id);
  EXPECT_EQ(recorder->find("missing"), nullptr);
}

// -- flows that a body calls -------------------------------------------------

using nested_spans = nested;

TEST_F(nested_spans, the_inner_span_is_a_child_of_the_step_that_opened_it) {
  const auto recorder = std::make_shared<span_recorder>();
  const auto listening = rt->traces().listen(recorder);
  const auto inner = define_silent();
  auto client = open_to([=](context ctx, input<int>, output<int>) //
                        -> task<> {
    auto talk = co_await ctx.run_step("opening", [&](context step) {
      return inner.open(step);
    });
    talk.close();
    co_await talk.output();
    const span_context other{trace_id::random(), span_id::random()};
    const auto parent = with_trace_parent(other.to_traceparent(), "a=b");
    auto elsewhere = co_await inner.open(ctx, parent);
    elsewhere.close();
    co_await elsewhere.output();
  });
  EXPECT_EQ(client.code(), errc::ok);
  const auto outer = recorder->find("/bidi-flow/flow2");
  const auto step = recorder->find("opening");
  ASSERT_TRUE(outer && step);
  const auto opened = recorder->children_of(step->context.span);
  ASSERT_EQ(opened.size(), 1u);
  EXPECT_EQ(opened[0]->name, "/bidi-flow/flow1");
  EXPECT_EQ(opened[0]->context.trace, outer->context.trace);
  const auto last = recorder->find("/bidi-flow/flow1");
  EXPECT_NE(last->context.trace, outer->context.trace);
  EXPECT_EQ(last->context.state, "a=b");
}

} // namespace tertulia::test::trace_tests
