// SPDX-License-Identifier: BSD-3-Clause

// Kept runs of conversations: found by their session, and with the snapshot to
// stand on.

#include <tertulia/ai/conversation_handle.hpp>
#include <tertulia/json.hpp>
#include <tertulia/remote_runtime.hpp>

#include <atomic>
#include <future>
#include <string>
#include <vector>

#include "support/conversations.hpp"
#include "support/cut_link.hpp"
#include "support/failing_store.hpp"
#include "support/network_config.hpp"
#include "support/refusal.hpp"

using namespace std::literals;

namespace tertulia::test::kept_conversations_tests {

namespace {

using kept_conversations = conversations;

const session_id trip{"trip"};

} // namespace

TEST_F(kept_conversations, a_session_leads_to_its_run) {
  const auto flow = define_flow(repeat_in_turns);
  auto first = flow.stream_bidi(with_session_id(trip), with_keep());
  hear(first, "a");
  const auto snapshot = first.last_snapshot();
  const auto place = first.detach();
  EXPECT_EQ(code_from([&] { (void)flow.stream_bidi(with_session_id(trip)); }),
            errc::failed_precondition)
    << "its invocation is live";
  auto second = flow.stream_bidi(with_session_id(trip), with_attach());
  EXPECT_EQ(second.position(), place);
  EXPECT_EQ(second.session(), trip);
  EXPECT_EQ(second.last_snapshot(), snapshot);
  hear(second, "b");
  EXPECT_EQ(told_of(finish(second).state.messages),
            (texts{"user: a", "model: re: a", "user: b", "model: re: b"}));
}

TEST_F(kept_conversations, clients_by_key_leave_come_back_and_end_runs) {
  const auto key = define_flow(repeat_in_turns).info().key;
  auto first = rt->stream_bidi(key, with_session_id(trip), with_keep());
  const auto at = first.detach();
  auto listener = rt->stream_bidi(key, with_cursor(at), as_listener{});
  auto second = rt->stream_bidi(key, with_cursor(at));
  listener.cancel(); // it only leaves
  EXPECT_EQ(code_from([&] { (void)listener.output(patience); }),
            errc::cancelled);
  const auto by_key = rt->action(key);
  EXPECT_EQ(by_key.find_run(at.run).status, run_status::running);
  second.cancel();
  EXPECT_EQ(code_from([&] { (void)second.output(patience); }), errc::cancelled);
  EXPECT_TRUE(nothing_is_left());
  auto third = rt->stream_bidi(key, with_session_id(trip), with_keep());
  EXPECT_EQ(by_key.abort(third.position().run).status, run_status::running);
  EXPECT_EQ(code_from([&] { (void)third.output(patience); }), errc::aborted);
}

TEST_F(kept_conversations, a_session_without_a_run_can_be_opened) {
  const auto flow = define_flow(repeat_in_turns);
  EXPECT_EQ(code_from([&] {
              (void)flow.stream_bidi(with_session_id(trip), with_attach());
            }),
            errc::not_found);
  auto first
    = flow.stream_bidi(with_session_id(trip), with_attach(true), with_keep());
  hear(first, "a");
  auto second
    = flow.stream_bidi(with_session_id(trip), with_attach(true), with_keep());
  EXPECT_EQ(second.position().run, first.position().run);
  EXPECT_EQ(code_from([&] { first.output(patience); }), errc::aborted);
  hear(second, "b");
  finish(second);
}

TEST_F(kept_conversations, a_run_that_ends_is_not_in_the_way_of_the_next) {
  const auto flow = define_flow(repeat_in_turns);
  for (int i = 0; i < 200; ++i) {
    auto talk
      = flow.stream_bidi(with_session_id(trip), with_attach(true), with_keep());
    talk.close();
    (void)talk.output(patience);
  }
}

TEST_F(kept_conversations, a_session_is_free_when_its_run_has_ended) {
  const auto flow = define_flow(repeat_in_turns);
  auto first = flow.stream_bidi(with_session_id(trip), with_keep());
  hear(first, "a");
  const auto place = first.position();
  EXPECT_EQ(flow.abort(trip).status, run_status::running);
  EXPECT_EQ(code_from([&] { first.output(patience); }), errc::aborted);
  auto second = flow.stream_bidi(with_session_id(trip), with_keep());
  EXPECT_NE(second.position().run, place.run);
  hear(second, "b");
  EXPECT_EQ(finish(second).state.messages.size(), 4u);
}

TEST_F(kept_conversations, a_take_over_of_the_session_ends_the_run) {
  const auto flow = define_flow(repeat_in_turns);
  auto first = flow.stream_bidi(with_session_id(trip), with_keep());
  hear(first, "a");
  const auto place = first.detach();
  auto second = flow.stream_bidi(with_session_id(trip), with_take_over{});
  hear(second, "b");
  EXPECT_EQ(finish(second).state.messages.size(), 4u);
  auto late = flow.stream_bidi(with_cursor(place));
  EXPECT_EQ(code_from([&] { late.output(patience); }), errc::cancelled)
    << "its end has waited for a client";
}

TEST_F(kept_conversations, a_client_that_does_not_know_the_types_listens) {
  const auto flow = define_flow(repeat_in_turns);
  auto first = flow.stream_bidi(with_session_id(trip), with_keep());
  auto listener
    = rt->stream_bidi(flow.info().key, with_session_id(to_string(trip)),
                      with_attach(), as_listener{});
  hear(first, "a");
  std::string heard;
  for (const auto& x : listener.responses(patience))
    if (x.contains("chunk"))
      heard += x.at("chunk").at("content").at(0).at("text").get<std::string>();
  EXPECT_EQ(heard, "re: a");
  finish(first);
}

TEST_F(kept_conversations, a_client_that_does_not_know_the_types_comes_back) {
  const auto flow = define_flow(repeat_in_turns);
  const auto by_key = rt->action(flow.info().key);
  const auto say_a = parse_json<json>(
    R"({"messages": [{"role": "user", "content": [{"text": "a"}]}]})");
  auto first = by_key.stream_bidi(with_session_id(trip), with_keep());
  first.send(say_a);
  auto chunks = 0;
  for (const auto& x : first.responses(patience)) {
    chunks += x.contains("chunk") ? 1 : 0;
    break;
  }
  const auto place = first.detach();
  EXPECT_EQ(by_key.find_run(place.run).status, run_status::running);
  auto second = by_key.stream_bidi(with_cursor(place));
  for (const auto& x : second.responses(patience))
    chunks += x.contains("chunk") ? 1 : 0;
  EXPECT_EQ(chunks, 1) << "of one turn, in two connections";
  second.send(say_a);
  for ([[maybe_unused]] const auto& x : second.responses(patience))
    ;
  const auto output = finish(second);
  EXPECT_EQ(output.at("state").at("messages").size(), 4u);
  auto third = by_key.stream_bidi(with_session_id(trip), with_attach(true),
                                  with_keep(), with_resume{});
  EXPECT_NE(third.position().run, place.run);
  EXPECT_EQ(by_key.abort(trip).status, run_status::running);
  EXPECT_EQ(code_from([&] { third.output(patience); }), errc::aborted);
}

TEST_F(kept_conversations, the_next_turn_drops_nothing_that_is_unheard) {
  runtime_options options;
  options.max_run_log = 1;    // turns before the last one are dropped
  options.run_heartbeat = 1h; // which would be a request as well
  restart(options);
  failing_store slow{system};
  const auto flow = ai::define_session_flow(
    *rt, "chat",
    [](context ctx, flow_session sess, flow_responder out) -> task<> {
      co_await sess.run_turns(
        ctx, [&](context, const ai::conversation_input& input) -> task<> {
          const auto text = input.messages.back().text();
          for (const auto letter : text)
            co_await out.send_text(std::string(1, letter));
          co_await sess.add_messages(ai::model_text(text));
        });
    },
    with_snapshot_store(slow.store()));
  auto first = flow.stream_bidi(with_session_id(trip), with_keep());
  const auto heard = hear(first, "abc");
  ASSERT_EQ(heard.size(), 3u + 2u) << "with the snapshot and the end";

  // The next turn has the credit for its notice when another client takes over.
  const auto before = slow.requests();
  slow.hang_next<save_snapshot_request>(1);
  first.send_text("");
  ASSERT_TRUE(eventually([&] { return slow.requests() > before; }));
  const auto place = first.detach();
  auto second
    = flow.stream_bidi(with_cursor({place.run, 0}), with_chunk_window(1));
  auto listener = flow.stream_bidi(with_cursor(place), as_listener{});
  slow.answer_hung();
  for (const auto& x : listener.responses(patience)) {
    EXPECT_TRUE(x.snapshot_created) << "the next turn is in the log";
    break;
  }
  EXPECT_EQ(hear(second), heard);
  EXPECT_EQ(hear(second).size(), 2u);
  finish(second);
}

TEST_F(kept_conversations, one_listener_too_many_is_refused) {
  runtime_options options;
  options.max_listeners = 2;
  restart(options);
  const auto flow = define_flow(repeat_in_turns);
  auto talk = flow.stream_bidi(with_session_id(trip), with_keep());
  const auto listen = [&] {
    return flow.stream_bidi(with_session_id(trip), with_attach(),
                            as_listener{});
  };
  auto first = listen();
  auto second = listen();
  EXPECT_EQ(code_from([&] { (void)listen(); }), errc::resource_exhausted);
  first.detach();
  auto third = listen();
  hear(talk, "a");
  EXPECT_EQ(hear(third).size(), hear(second).size());
  finish(talk);
}

TEST_F(kept_conversations, a_client_of_another_runtime_waits_for_the_session) {
  const auto flow = define_flow(repeat_in_turns);
  auto first = flow.stream_bidi(with_session_id(trip));
  hear(first, "a");
  runtime other{system};
  const auto twin = ai::define_session_flow(other, "chat", repeat_in_turns,
                                            with_snapshot_store(store));
  ASSERT_EQ(twin.info().key, flow.info().key);
  EXPECT_EQ(code_from([&] { (void)twin.stream_bidi(with_session_id(trip)); }),
            errc::failed_precondition);
  EXPECT_EQ(code_from([&] {
              (void)twin.stream_bidi(with_session_id(trip), with_queue{},
                                     with_open_timeout(1ms));
            }),
            errc::deadline_exceeded);
  auto waiting = std::async(std::launch::async, [&] {
    return say(twin.stream_bidi(with_session_id(trip), with_queue{}), {"c"});
  });
  hear(first, "b");
  finish(first);
  EXPECT_EQ(waiting.get().state.messages.size(), 6u);
}

TEST(kept_conversations_of_nodes, a_client_comes_back_before_its_named_input) {
  network_config here_cfg;
  network_config there_cfg;
  caf::actor_system here{here_cfg};
  caf::actor_system there{there_cfg};
  runtime rt{here};
  std::atomic<int> turns = 0;
  const auto flow = ai::define_session_flow(
    rt, "chat",
    [&](context ctx, flow_session sess, flow_responder out) -> task<> {
      co_await sess.run_turns(
        ctx, [&](context, const ai::conversation_input&) -> task<> {
          ++turns;
          co_await out.send_text("done");
          co_await sess.add_messages(ai::model_text("done"));
        });
    },
    with_snapshot_store(spawn_memory_store(here)));
  cut_link link{rt.publish()};
  const remote_runtime client{there, {endpoint{"127.0.0.1", link.port()}}};
  const auto far
    = client.action<ai::session_flow<phase, notebook>>(flow.info().key);
  {
    auto talk = far.stream_bidi(with_session_id(trip), with_keep(1min),
                                with_turn_id("errand"));
    link.cut();
    hear(talk, "go");
    finish(talk);
  }
  const auto again
    = far.run_text("go", with_session_id(trip), with_turn_id("errand"));
  EXPECT_EQ(again.text, "done");
  EXPECT_EQ(turns, 1) << "the name belongs to the turn";
}

} // namespace tertulia::test::kept_conversations_tests
