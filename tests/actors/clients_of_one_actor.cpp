// SPDX-License-Identifier: BSD-3-Clause

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/actor_clients.hpp"

using namespace std::literals;

namespace tertulia::test::clients_of_one_actor_tests {

namespace {

using strings = std::vector<std::string>;

/// Answers and ends that an actor hears, in words.
struct numbered_clients : actor_client_of {
  ~numbered_clients() override {
    caf::anon_send_exit(who, caf::exit_reason::user_shutdown);
    run();
  }

  /// Opens a run that is kept, or attaches to it, as the client with a number.
  /// @param back_as number of the reader that comes back; none for a new one.
  /// @returns what the actor has heard since.
  strings open_as(std::uint64_t client,
                  std::optional<std::uint32_t> back_as = {}) {
    auto question = flow.opening_for({}, with_keep());
    question.client_number = client;
    if (at.connection) {
      auto& chosen = question.options.attach.emplace();
      chosen.run = at.attached.run;
      chosen.back_as = back_as;
    }
    caf::anon_send(who, std::move(question));
    run();
    return std::exchange(heard, {});
  }

  text_flow flow = define_thrice();
  open_result at;
  strings heard;
  caf::actor who = system.spawn([this](caf::event_based_actor* self) {
    return caf::behavior{
      [this, self](open_request& x) {
        x.client
          = caf::actor_cast<chunk_sink>(caf::strong_actor_ptr{self->ctrl()});
        self->request(rt->front_desk(), caf::infinite, std::move(x))
          .then(
            [this](const open_result& found) {
              at = found;
              heard.push_back("reader " + std::to_string(at.attached.reader));
            },
            [this](const caf::error& x) {
              heard.push_back(to_status(x).message());
            });
      },
      [this](const completion& x) {
        heard.push_back(std::to_string(x.reader) + ": "
                        + to_status(x.reason).message());
      },
      [](const chunk_batch&) {},
      [](const input_credit&) {},
      [](const turn_end&) {},
    };
  });
};

using clients_of_one_actor = actor_client_of;

} // namespace

TEST_F(clients_of_one_actor, hear_that_another_one_talks_though_the_run_waits) {
  const auto flow = define_thrice();
  const auto log = std::make_shared<record<text_flow>>();
  const auto log_of_second = std::make_shared<record<text_flow>>();
  const auto who = spawn_two(log, log_of_second);
  flow.open(who->first, with_keep());
  run();
  flow.open(who->second, with_run(who->first.position().run));
  run();
  ASSERT_EQ(log->errors.size(), 1u);
  EXPECT_EQ(log->errors.front().code(), errc::aborted);
  EXPECT_TRUE(log_of_second->errors.empty());
  who->second.send("a");
  who->second.close();
  run();
  EXPECT_EQ(log_of_second->chunks, (strings{"a.", "a!", "a?"}));
  EXPECT_EQ(log_of_second->outputs, strings{"bye"});
  EXPECT_TRUE(log->chunks.empty());
  caf::anon_send_exit(who.who, caf::exit_reason::user_shutdown);
}

TEST_F(clients_of_one_actor, listen_to_one_run_together) {
  const auto flow = define_thrice();
  const auto log = std::make_shared<record<text_flow>>();
  const auto log_of_second = std::make_shared<record<text_flow>>();
  const auto talker = open_client(flow, with_keep());
  run();
  const with_run what{talker->position().run};
  const auto who = spawn_two(log, log_of_second);
  flow.open(who->first, what, as_listener{});
  flow.open(who->second, what, as_listener{});
  run();
  talker->send("a");
  talker->close();
  run();
  for (const auto& heard : {log, log_of_second}) {
    EXPECT_EQ(heard->chunks, (strings{"a.", "a!", "a?"}));
    EXPECT_EQ(heard->outputs, strings{"bye"});
  }
  caf::anon_send_exit(who.who, caf::exit_reason::user_shutdown);
}

TEST_F(numbered_clients, give_way_to_the_one_that_was_opened_later) {
  EXPECT_EQ(open_as(5), strings{"reader 0"});
  EXPECT_EQ(open_as(7),
            (strings{"0: another client has taken over", "reader 1"}));
  EXPECT_EQ(open_as(6), strings{"this actor has attached again since"})
    << "its request has come late";
  EXPECT_EQ(open_as(5, 0), strings{"another client has taken over"});
  EXPECT_EQ(open_as(7, 1), strings{"reader 2"})
    << "one that comes back hears nothing of the reader that it was";
  EXPECT_EQ(open_as(7, 0), strings{"reader 3"})
    << "the answer to its last return was lost";
}

} // namespace tertulia::test::clients_of_one_actor_tests
