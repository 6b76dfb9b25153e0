// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/agent.hpp>
#include <tertulia/ai/session_flow.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/store_supervisor.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "failing_store.hpp"
#include "flows.hpp"

namespace tertulia::test {

/// What an agent of these tests remembers: everything that it was told.
struct memo {
  std::vector<std::string> said;

  friend bool operator==(const memo&, const memo&) = default;
};

BOOST_DESCRIBE_STRUCT(memo, (), (said))

/// Finds the actors of a conversation again.
struct conversation_actors {
  caf::actor connection;
  caf::actor session;
  caf::actor responder;
};

/// The same without keeping them.
struct conversation_trail {
  explicit conversation_trail(const context& ctx)
    : connection(ctx.owner().self()->address()),
      session(ctx.owner().link().session.address()),
      responder(ctx.owner().link().responder.address()) {}

  /// Whether the actors that no client can hold were destroyed.
  [[nodiscard]] bool gone() const {
    return !caf::actor_cast<caf::strong_actor_ptr>(session)
           && !caf::actor_cast<caf::strong_actor_ptr>(responder);
  }

  caf::actor_addr connection;
  caf::actor_addr session;
  caf::actor_addr responder;
};

/// A deterministic runtime with conversations on a store that fails on demand
/// and is started again when it dies.
class faulty_conversations : public flows {
protected:
  using memo_agent
    = bidi_flow<memo, std::string, agent_output<memo, int>, std::string>;
  using memo_client
    = recording_client<std::string, agent_output<memo, int>, std::string>;

  faulty_conversations()
    : behind(spawn_memory_store(system)), kept(system, behind),
      store(supervise_store(system, kept.factory())) {
    run();
    count_from_here();
  }

  /// An agent that remembers each input, says it back and ends the turn. The
  /// input "throw" makes its body throw, "pass" changes nothing, and "iterate"
  /// has a snapshot made within the turn.
  template <class... Options>
  memo_agent define_memo(const Options&... options) {
    return rt->define_agent(
      "memo" + std::to_string(++agents_),
      [this](context ctx, session<memo> mine, input<std::string> in,
             responder<std::string> out) -> task<int> {
        trails.emplace_back(ctx);
        const departure here{left};
        int count = 0;
        while (auto text = co_await in.next()) {
          ++count;
          if (*text == "throw")
            throw status_error{errc::permission_denied, "not that"};
          if (*text != "pass")
            co_await mine.update([&](memo& x) { x.said.push_back(*text); });
          if (*text == "iterate")
            co_await trigger_snapshot(ctx, snapshot_event::tool_iteration_end);
          co_await out.send(*text);
          co_await out.end_turn();
        }
        co_return count;
      },
      with_session_store(store), options...);
  }

  /// One that makes a snapshot at the end of each turn and of the invocation.
  memo_agent define_keeping_memo() {
    return define_memo(with_snapshot_callback(snapshot_always{}));
  }

  /// Asks the store behind all faults.
  template <class Answer, class Verb>
  std::optional<Answer> ask(Verb verb) {
    auto heard = std::make_shared<std::optional<Answer>>();
    system.spawn<caf::hidden>(
      [=, to = behind](caf::event_based_actor* self) mutable {
        self->request(to, caf::infinite, std::move(verb))
          .then([=](Answer& x) { *heard = std::move(x); },
                [](const caf::error&) {});
      });
    run();
    return std::move(*heard);
  }

  /// What the store has a session work on.
  std::vector<std::string> said_in(const memo_agent& agent,
                                   const std::string& session) {
    const auto found = ask<stored_session>(
      get_session{session_ref{agent.info().key, session_id{session}}});
    if (!found)
      return {};
    auto custom = found->content.custom();
    return std::move(custom).take<memo>().said;
  }

  /// All records of a session, orphans included; every state is verified on
  /// the way.
  std::vector<snapshot_record> records_of(const std::string& agent,
                                          const std::string& session) {
    list_snapshots which{session_ref{agent, session_id{session}}};
    which.with_orphans = true;
    which.wanted = detail_level::state;
    which.limit = max_page;
    const auto page = ask<snapshot_page>(which);
    std::vector<snapshot_record> result;
    if (!page) {
      ADD_FAILURE() << "the store has something that is damaged";
      return result;
    }
    EXPECT_TRUE(page->damages.empty());
    for (const auto& x : page->snapshots) {
      EXPECT_EQ(x.content.id(), x.record.state);
      result.push_back(x.record);
    }
    return result;
  }

  std::vector<snapshot_record> records_of(const memo_agent& agent,
                                          const std::string& session) {
    return records_of(agent.info().key, session);
  }

  /// The actors of the conversation that was opened last.
  conversation_actors last_actors() const {
    const auto& x = trails.back();
    return {caf::actor_cast<caf::actor>(x.connection),
            caf::actor_cast<caf::actor>(x.session),
            caf::actor_cast<caf::actor>(x.responder)};
  }

  /// Whether every body was left.
  bool all_left() const {
    return left == static_cast<int>(trails.size());
  }

  /// Whether every conversation has left nothing, not even where a store still
  /// knows whom it would answer.
  bool all_gone() {
    kept.answer_hung();
    run();
    for (const auto& x : trails)
      if (!x.gone())
        return false;
    return all_left();
  }

  /// Has one turn, which must succeed.
  void say(memo_client& client, const std::string& text) {
    const auto before = client.heard().turns;
    client.send(text);
    run();
    ASSERT_EQ(client.heard().turns, before + 1);
  }

  /// Checks that the session is free, whatever its store still has to do, and
  /// goes on from what it was told "before".
  void expect_free_again(const memo_agent& agent, const std::string& session) {
    auto after = open(agent, with_session_id(session));
    run();
    ASSERT_TRUE(after.heard().open)
      << to_status(after.heard().refused).message();
    say(after, "after");
    after.close();
    run();
    ASSERT_EQ(after.code(), errc::ok);
    const auto said = after.output().state.said;
    EXPECT_EQ(said.front(), "before");
    EXPECT_EQ(said.back(), "after");
    EXPECT_EQ(said_in(agent, session), said);
  }

  managed_store behind;
  failing_store kept;
  managed_store store;
  std::vector<conversation_trail> trails;
  int left = 0;

private:
  int agents_ = 0;
};

} // namespace tertulia::test
