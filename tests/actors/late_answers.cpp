// SPDX-License-Identifier: BSD-3-Clause

// Answers to an opening that come behind messages of the connection.

#include <tertulia/store/runs.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/actor_clients.hpp"
#include "support/actor_links.hpp"

using namespace std::literals;

namespace tertulia::test::late_answer_tests {

namespace {

using strings = std::vector<std::string>;

/// Desk whose answer comes behind messages of the connection, as behind a desk
/// of another node, whose answer is passed on.
struct late_answers : actor_client_of {
  /// Way that nobody goes: nothing is lost here.
  struct unused_way : detail::way_back {
    caf::actor spawn_guide() override {
      return {};
    }
  };

  /// Sends a client a message, as if from another actor.
  template <class Handle, class Client, class Message>
  static void say(const Handle& from, const Client& to, Message what) {
    caf::actor_cast<caf::strong_actor_ptr>(to)->enqueue(
      caf::actor_cast<caf::strong_actor_ptr>(from), caf::make_message_id(),
      caf::make_message(std::move(what)), nullptr);
  }

  static chunk_batch chunk(std::uint64_t number, std::string text,
                           std::uint32_t reader = 0) {
    chunk_batch result{number, 1,
                       payload::of(chunks<std::string>{1, std::move(text)})};
    result.reader = reader;
    return result;
  }

  /// Spawns a desk.
  /// @param answer to a request, or throws one; nothing to leave it without.
  template <class Answer>
  front_desk_actor spawn_desk(Answer answer) {
    auto result = system.spawn<caf::hidden>(
      [=, this](
        front_desk_actor::pointer self) -> front_desk_actor::behavior_type {
        return {
          [=, this](open_request& x) -> caf::result<open_result> {
            try {
              if (std::optional<open_result> found = answer(x))
                return std::move(*found);
            } catch (const status_error& refusal) {
              return to_error(refusal);
            }
            return unanswered.emplace_back(
              self->make_response_promise<open_result>());
          },
          [](run_request&) { return run_info{}; },
          [](list_runs_request&) { return run_page{}; },
          [this](list_atom) {
            std::exchange(due, nullptr)();
            return action_list{};
          },
          [](caf::get_atom, const std::string&) {
            return caf::strong_actor_ptr{};
          },
        };
      });
    spawned.push_back(caf::actor_cast<caf::actor>(result));
    return result;
  }

  /// Opens a connection at a desk that answers so.
  template <class Answer>
  auto open_at(Answer answer) {
    auto result = spawn();
    run();
    open(*result, spawn_desk(answer));
    return result;
  }

  /// Answers a request that a desk has left without an answer.
  void answer(const front_desk_actor& desk, std::size_t index, open_result x) {
    due = [&] { unanswered.at(index).deliver(std::move(x)); };
    caf::anon_send(desk, list_atom::value);
    run();
  }

  void open(detail::actor_connection& client, const front_desk_actor& desk) {
    client.open(desk, open_request{"/bidi-flow/x", {}, {}, {}}, nullptr,
                std::make_shared<unused_way>());
    run();
  }

  ~late_answers() override {
    spawned.push_back(stranger);
    for (const auto& x : spawned)
      caf::anon_send_exit(x, caf::exit_reason::user_shutdown);
    run();
  }

  connection_actor spawn_peer() {
    auto result
      = system.spawn<caf::hidden>([]() -> connection_actor::behavior_type {
          return {[](turn_input&) {}, [](chunk_credit) {},
                  [](caf::close_atom) {}, [](cancel_atom) {}};
        });
    spawned.push_back(caf::actor_cast<caf::actor>(result));
    return result;
  }

  caf::actor stranger = system.spawn<caf::hidden>(
    []() -> caf::behavior { return {[](caf::tick_atom) {}}; });
  std::vector<caf::actor> spawned;
  connection_actor peer = spawn_peer();
  std::vector<caf::typed_response_promise<open_result>> unanswered;
  std::function<void()> due; ///< what a desk does next
};

} // namespace

TEST_F(late_answers, come_behind_what_the_run_sends) {
  const auto client = open_at([this](const open_request& x) {
    say(stranger, x.client, chunk(0, "not for it"));
    say(peer, x.client, chunk(0, "a"));
    say(peer, x.client, turn_end{0, chunk(1, "b")});
    say(peer, x.client, completion{payload::of("bye"s), {}, 3, 0});
    return open_result{peer, 1};
  });
  EXPECT_EQ(client.log->chunks, (strings{"a", "b"}));
  EXPECT_EQ(client.log->turns, 1);
  EXPECT_EQ(client.log->outputs, strings{"bye"});
  EXPECT_TRUE(client.log->errors.empty());
}

TEST_F(late_answers, come_behind_the_end_of_an_earlier_reader) {
  // The client has left the run, and attaches to it again.
  const auto client = open_at([this](const open_request& x) {
    say(peer, x.client, chunk(0, "again", 1));
    say(peer, x.client, turn_end{0, chunk(1, "and again", 1)});
    say(peer, x.client, input_credit{7, 1});
    say(peer, x.client,
        completion{{}, fail(errc::cancelled, "detached"), 2, 0, 1});
    say(peer, x.client, chunk(0, "a", 2));
    say(peer, x.client, chunk(1, "late", 1));
    say(peer, x.client, completion{payload::of("bye"s), {}, 1, 0, 2});
    open_result result{peer, 1};
    result.attached.run = run_id{"r"};
    result.attached.reader = 2;
    return result;
  });
  EXPECT_EQ(client.log->chunks, strings{"a"});
  EXPECT_EQ(client.log->turns, 0);
  EXPECT_EQ(client.log->outputs, strings{"bye"});
  EXPECT_TRUE(client.log->errors.empty());
}

TEST_F(late_answers, take_nothing_from_the_other_clients_of_an_actor) {
  const auto log = std::make_shared<record<text_flow>>();
  const auto who = spawn_two(std::make_shared<record<text_flow>>(), log);
  open(who->second, spawn_desk([this](const open_request&) {
         return open_result{peer, 1};
       }));
  open(who->first,
       spawn_desk([](const open_request&) { return std::nullopt; }));
  say(peer, who.who, chunk(0, "a"));
  say(peer, who.who, turn_end{0, chunk(1, "b")});
  say(peer, who.who, completion{payload::of("bye"s), {}, 3, 0});
  run();
  EXPECT_EQ(log->chunks, (strings{"a", "b"}));
  EXPECT_EQ(log->turns, 1);
  EXPECT_EQ(log->outputs, strings{"bye"});
  EXPECT_TRUE(log->errors.empty());
  caf::anon_send_exit(who.who, caf::exit_reason::user_shutdown);
}

TEST_F(late_answers, are_awaited_however_much_others_are_sent) {
  const auto log = std::make_shared<record<text_flow>>();
  const auto log_of_other = std::make_shared<record<text_flow>>();
  const auto who = spawn_two(log, log_of_other);
  open(who->second, spawn_desk([this](const open_request&) {
         return open_result{peer, 1};
       }));
  const auto desk
    = spawn_desk([](const open_request&) { return std::nullopt; });
  open(who->first, desk);
  for (std::uint64_t i = 0; i <= max_window; ++i) {
    say(peer, who.who, chunk(i, "a"));
    run();
  }
  EXPECT_EQ(log_of_other->chunks.size(), max_window + 1u);
  const auto own = spawn_peer();
  say(own, who.who, chunk(0, "b"));
  say(own, who.who, input_credit{1});
  say(own, who.who, input_credit{2});
  run();
  answer(desk, 0, open_result{own, 1});
  EXPECT_EQ(log->chunks, strings{"b"});
  say(own, who.who, completion{payload::of("bye"s), {}, 1, 0});
  run();
  EXPECT_EQ(log->outputs, strings{"bye"});
  who->second.cancel();
  caf::anon_send_exit(who.who, caf::exit_reason::user_shutdown);
}

// -- sessions that are opened again -------------------------------------------

namespace {

/// Connection of a kept run that records what its clients want.
struct recorded_run {
  explicit recorded_run(caf::event_based_actor* self) : self(self) {}

  caf::behavior make_behavior(std::shared_ptr<std::vector<run_verb>> verbs) {
    return {[verbs](const run_request& x) {
              verbs->push_back(x.verb);
              return run_info{};
            },
            [](turn_input&) {}, [](chunk_credit) {}, [](cancel_atom) {}};
  }

  caf::event_based_actor* self;
};

/// Guide that finds a desk, and says on a tick that it takes too long.
struct hasty_way : detail::way_back {
  explicit hasty_way(caf::actor_system& system) : system(system) {}

  caf::actor spawn_guide() override {
    guide = system.spawn<caf::hidden>(
      [this](caf::event_based_actor* self) -> caf::behavior {
        return {
          [this](caf::connect_atom, const caf::error&) {
            return caf::actor_cast<caf::actor>(desk);
          },
          [this, self](caf::monitor_atom) -> caf::result<caf::ok_atom> {
            return waiting.emplace_back(
              self->make_response_promise<caf::ok_atom>());
          },
          [this](caf::tick_atom) {
            waiting.back().deliver(
              fail(errc::deadline_exceeded, "it takes long"));
          },
          [self](caf::close_atom) { self->quit(); },
        };
      });
    return guide;
  }

  caf::actor_system& system;
  front_desk_actor desk;
  caf::actor guide;
  std::vector<caf::typed_response_promise<caf::ok_atom>> waiting;
};

} // namespace

TEST_F(late_answers, do_not_end_the_run_that_the_client_looks_for) {
  const auto verbs = std::make_shared<std::vector<run_verb>>();
  const auto spawn_run = [&] {
    const auto result
      = system.spawn<caf::hidden>([&](caf::stateful_actor<recorded_run>* self) {
          return self->state.make_behavior(verbs);
        });
    spawned.push_back(result);
    return caf::actor_cast<connection_actor>(result);
  };
  const auto result_for = [](const connection_actor& run, const char* name) {
    open_result result{run, 1, session_id{"s"}};
    result.attached.run = run_id{name};
    result.attached.is_stored = true;
    return result;
  };
  const auto lost = spawn_run();
  const auto again = spawn_run();
  const auto road = std::make_shared<hasty_way>(system);
  std::vector<attachment> asked;
  road->desk
    = spawn_desk([&](const open_request& x) -> std::optional<open_result> {
        asked.push_back(x.options.attach.value_or(attachment{}));
        if (asked.size() == 1)
          return result_for(lost, "lost");
        if (!asked.back().or_open)
          throw status_error{errc::not_found, "there is no such run"};
        return std::nullopt;
      });
  const auto client = spawn();
  run();
  open_request first{"/agent/x", {}, {}, {}};
  first.options.disconnect = on_disconnect::keep;
  client->open(road->desk, std::move(first), nullptr, road);
  run();
  caf::anon_send(caf::actor_cast<caf::actor>(lost),
                 caf::exit_msg{{},
                               fail(errc::unavailable, "the node is gone")});
  run();
  ASSERT_EQ(asked.size(), 3u);
  // The guide gives the opening up: the client asks for its old run again, and
  // then opens the session once more.
  caf::anon_send(road->guide, caf::tick_atom::value);
  run();
  ASSERT_EQ(asked.size(), 5u);
  EXPECT_TRUE(asked.back().or_open);
  verbs->clear();
  answer(road->desk, 0, result_for(again, "again"));
  EXPECT_EQ(*verbs, std::vector{run_verb::leave})
    << "the next attempt attaches to it";
  auto attached = result_for(again, "again");
  attached.attached.reader = 1;
  answer(road->desk, 1, std::move(attached));
  EXPECT_EQ(client->position().run, run_id{"again"});
  EXPECT_TRUE(client.log->errors.empty());
  client->detach();
  caf::anon_send_exit(client.who, caf::exit_reason::user_shutdown);
  run();
}

} // namespace tertulia::test::late_answer_tests
