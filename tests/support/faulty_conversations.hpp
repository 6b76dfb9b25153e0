// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/session_flow.hpp>
#include <tertulia/define_agent.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store_supervisor.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/connection/connection_state.hpp"
#include "support/failing_store.hpp"
#include "support/flows.hpp"
#include "support/states.hpp"

namespace tertulia::test {

/// Reaction of a body to a change or to an end of its turn that fails.
enum class on_failure { goes_on, tries_again, changes_and_tries_again };

/// Handles of the actors of a conversation.
struct conversation_actors {
  caf::actor connection;
  caf::actor session;
  caf::actor responder;
};

/// Addresses of the actors of a conversation, which do not keep them alive.
struct conversation_trail {
  explicit conversation_trail(const context& ctx)
    : connection(detail::access::owner(ctx).self()->address()),
      session(detail::access::owner(ctx).link().session.address()) {
    auto& host
      = static_cast<detail::connection_state&>(detail::access::owner(ctx));
    if (host.hosted_action()->conversation() != nullptr)
      responder = host.responder().address();
  }

  /// Returns whether the actors that clients cannot reference were destroyed.
  [[nodiscard]] bool gone() const {
    return !caf::actor_cast<caf::strong_actor_ptr>(session)
           && !caf::actor_cast<caf::strong_actor_ptr>(responder);
  }

  caf::actor_addr connection;
  caf::actor_addr session;
  caf::actor_addr responder; // empty for a flow within a conversation
};

/// Fixture with a deterministic runtime, and with conversations on a store that
/// fails on demand and is restarted when it dies.
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

  /// Defines an agent that stores each input, sends it back and ends the turn.
  /// The input "throw" makes its body throw, "pass" does not change the state,
  /// "iterate" triggers a snapshot within the turn, and "last" ends the body
  /// after its turn.
  template <class... Options>
  memo_agent define_memo(const Options&... options) {
    return define_memo_in(*rt, "memo" + std::to_string(++agents_), options...);
  }

  template <class... Options>
  memo_agent define_memo_in(runtime& where, const std::string& name,
                            const Options&... options) {
    return define_agent(
      where, name,
      [this](context ctx, agent_session<memo> mine, input<std::string> in,
             agent_responder<std::string> out) -> task<int> {
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
          if (*text == "last")
            break;
        }
        co_return count;
      },
      with_snapshot_store(store), options...);
  }

  /// Defines such an agent with a snapshot at the end of each turn and of the
  /// invocation.
  template <class... Options>
  memo_agent define_keeping_memo(const Options&... options) {
    return define_memo(each_time, options...);
  }

  /// Defines an agent that stores each input, with a mark for each failure so
  /// far, and ends the turn. "pass" does not change the state. The body records
  /// the code of each attempt in `codes`, and returns the number of failures.
  template <class... Options>
  memo_agent define_stubborn(on_failure policy, const Options&... options) {
    return define_agent(
      *rt, "stubborn" + std::to_string(++agents_),
      [this, policy](context ctx, agent_session<memo> mine,
                     input<std::string> in,
                     agent_responder<std::string> out) -> task<int> {
        trails.emplace_back(ctx);
        const departure here{left};
        std::size_t failures = 0;
        // Returns whether the next step may follow.
        const auto note = [&](const auto& result) {
          codes.push_back(result ? errc::ok : code_of(result.error()));
          if (!result)
            ++failures;
          return result || policy == on_failure::goes_on
                 || codes.back() == errc::aborted || failures == most_failures;
        };
        while (auto text = co_await in.next()) {
          auto changes = *text != "pass";
          for (bool done = false; !done;) {
            while (changes) {
              const auto changed
                = co_await as_expected(mine.update([&](memo& x) {
                    x.said.push_back(*text + std::string(failures, '!'));
                  }));
              changes = !note(changed);
            }
            const auto ended = co_await as_expected(out.end_turn());
            done = note(ended);
            changes = !done && policy == on_failure::changes_and_tries_again;
          }
        }
        co_return static_cast<int>(failures);
      },
      with_snapshot_store(store), options...);
  }

  /// Defines a chat agent that adds each message, with a snapshot at the end of
  /// each turn and of the invocation.
  auto define_chat() {
    return ai::define_chat_agent(
      *rt, "chat",
      [](context, chat_session mine, chat_input in,
         chat_responder out) -> task<> {
        while (const auto input = co_await in.next()) {
          co_await mine.add_messages(input->messages);
          co_await out.end_turn();
        }
      },
      with_snapshot_store(store), each_time);
  }

  /// Sends a request to the store behind the failing one.
  template <class Answer, class Verb>
  std::optional<Answer> ask(Verb verb) {
    auto received = std::make_shared<std::optional<Answer>>();
    system.spawn<caf::hidden>(
      [=, to = behind](caf::event_based_actor* self) mutable {
        self->request(to, caf::infinite, std::move(verb))
          .then([=](Answer& x) { *received = std::move(x); },
                [](const caf::error&) {});
      });
    run();
    return std::move(*received);
  }

  /// Returns the inputs in the working state of a session.
  std::vector<std::string> said_in(const memo_agent& agent,
                                   const std::string& session) {
    const auto found = ask<stored_session>(
      get_session_request{session_ref{agent.info().key, session_id{session}}});
    if (!found)
      return {};
    auto custom = found->content.custom();
    return std::move(custom).take<memo>().said;
  }

  /// Returns all records of a session, including orphans. Verifies every state
  /// on the way.
  std::vector<snapshot_record> records_of(const std::string& agent,
                                          const std::string& session) {
    list_snapshots_request target{session_ref{agent, session_id{session}}};
    target.with_orphans = true;
    target.detail = detail_level::state;
    target.limit = max_page;
    const auto page = ask<snapshot_page>(target);
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

  /// Returns the actors of the conversation that was opened last.
  conversation_actors last_actors() const {
    const auto& x = trails.back();
    return {caf::actor_cast<caf::actor>(x.connection),
            caf::actor_cast<caf::actor>(x.session),
            caf::actor_cast<caf::actor>(x.responder)};
  }

  /// Returns whether every body has ended.
  bool all_left() const {
    return left == static_cast<int>(trails.size());
  }

  /// Returns whether nothing is left of any conversation, not even as the
  /// receiver of an answer that a store still owes.
  bool all_gone() {
    kept.answer_hung();
    run();
    for (const auto& x : trails)
      if (!x.gone())
        return false;
    return all_left();
  }

  /// Takes one turn, which must succeed.
  void say(memo_client& client, const std::string& text) {
    const auto before = client.received().turns;
    client.send(text);
    run();
    ASSERT_EQ(client.received().turns, before + 1);
  }

  /// Checks that the conversation has ended once, with this code.
  template <class Client>
  static void expect_end(const Client& client, errc code) {
    EXPECT_EQ(client.received().ends, 1u);
    EXPECT_EQ(client.code(), code); // throws without an end
  }

  /// Stores a session with the input "before", and returns its record.
  snapshot_record store_before(const memo_agent& agent) {
    {
      auto before = open(agent, with_session_id("s"));
      say(before, "before");
      before.close();
      EXPECT_EQ(before.code(), errc::ok);
    }
    run();
    const auto records = records_of(agent, "s");
    EXPECT_EQ(records.size(), 1u);
    return records.at(0);
  }

  /// Checks that the session is free, whatever its store still has to do, and
  /// continues with the input "before" in its state.
  void expect_free_again(const memo_agent& agent, const std::string& session) {
    auto after = open(agent, with_session_id(session));
    run();
    ASSERT_TRUE(after.received().open)
      << to_status(after.received().refused).message();
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
  std::vector<errc> codes;
  int left = 0;

  static constexpr std::size_t most_failures = 30;

private:
  int agents_ = 0;
};

} // namespace tertulia::test
