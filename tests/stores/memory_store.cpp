// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/memory_store.hpp>
#include <tertulia/store_contract.hpp>

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <memory>
#include <string>

#include "support/memory.hpp"

namespace tertulia::test::memory_store_tests {

namespace {

struct memory_store_factory : contract_factory {
  managed_store open(caf::actor_system& system) override {
    return spawn_memory_store(system);
  }
};

/// Fixture of the contract without its tests.
struct memory_store : store_test<memory_store_factory> {};

} // namespace

INSTANTIATE_TEST_SUITE_P(
  memory, store_contract,
  ::testing::Values(store_kind::of<memory_store_factory>()));

TEST_F(memory_store, a_state_is_kept_as_it_is) {
  const auto first = talk(3);
  save(at("s"), first, 0);
  EXPECT_TRUE(content(at("s"), 1).same_as(first));
  EXPECT_TRUE(content(at("s")).same_as(first));
}

TEST_F(memory_store, equal_states_are_kept_once) {
  const auto first = talk(3);
  save(at("s"), first, 0);
  save(at("t"), talk(3), 0);
  EXPECT_TRUE(content(at("t"), 1).same_as(first));
}

TEST_F(memory_store, a_snapshot_costs_little_beside_what_is_new_in_it) {
  constexpr int count = 2'000;
  auto content = state::conversation({}, {}, {});
  std::vector<state> all;
  for (int i = 0; i < count; ++i) {
    content = content.with_messages(
      content.messages().with(ai::user_text(std::to_string(i))));
    (void)content.id(); // caches the hash of the messages
    all.push_back(content);
  }
  const auto before = test::all_bytes_in_use();
  std::uint64_t parent = 0;
  for (const auto& x : all)
    parent = save(at("s"), x, parent).record.sequence;
  const auto each = (test::all_bytes_in_use() - before) / count;
  RecordProperty("bytes", static_cast<int>(each));
  EXPECT_LT(each, 640u);
}

TEST_F(memory_store, a_value_that_was_changed_behind_its_back_is_data_loss) {
  const auto value = std::make_shared<int>(1);
  save(at("s"), state::plain(payload::of(value)), 0);
  save(at("s"), number(2), 1);
  *value = 3;
  const snapshot_ref snapshot{at("s"), 1};
  EXPECT_EQ(code(get_snapshot_request{snapshot}), errc::data_loss);
  EXPECT_NE(store.error().message().find("corrupt"), std::string::npos);
  EXPECT_EQ(code(restore_snapshot_request{snapshot}), errc::data_loss);
  EXPECT_EQ(info(at("s")).head, 2u);
  list_snapshots_request all{at("s")};
  EXPECT_EQ(code(all), errc::ok);
  all.detail = detail_level::state;
  const auto page = get(all);
  EXPECT_EQ(page.snapshots.size(), 1u);
  ASSERT_EQ(page.damages.size(), 1u);
  EXPECT_EQ(page.damages[0].sequence, 1u);
}

TEST(memory_store_actor, what_it_knew_survives_it) {
  caf::actor_system_config cfg;
  cfg.set("scheduler.policy", caf::atom("testing"));
  caf::actor_system system{cfg};
  auto& sched
    = dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
  const auto store = spawn_memory_store(system);
  sched.run();
  caf::scoped_actor self{system};
  auto ask = [&](const auto& x, auto at_work) {
    auto result = errc::unknown;
    auto answer = self->request(store, caf::infinite, x);
    at_work();
    sched.run();
    answer.receive([&](session_info&) { result = errc::ok; },
                   [&](caf::error& reason) { result = code_of(reason); });
    return result;
  };
  auto save = [](const char* name) {
    return save_session_request{
      {"/agent/a", session_id{name}}, state::plain(payload::of(1)), 0};
  };
  caf::actor_addr killed;
  EXPECT_EQ(ask(save("first"),
                [&] {
                  ASSERT_TRUE(sched.try_run_once()); // the request is delegated
                  ASSERT_EQ(sched.jobs.size(), 1u);
                  killed = sched.next_job<caf::scheduled_actor>().address();
                }),
            errc::ok);
  caf::anon_send_exit(killed, caf::exit_reason::kill);
  sched.run();
  EXPECT_EQ(caf::actor_cast<caf::strong_actor_ptr>(killed), nullptr);
  EXPECT_EQ(ask(save("second"), [] {}), errc::ok);

  auto all = self->request(store, caf::infinite, list_sessions_request{});
  sched.run();
  all.receive(
    [](session_page& x) {
      ASSERT_EQ(x.sessions.size(), 2u);
      EXPECT_EQ(x.sessions[0].id, session_id{"first"});
      EXPECT_EQ(x.sessions[1].id, session_id{"second"});
    },
    [](caf::error& reason) { FAIL() << to_status(reason).what(); });
}

} // namespace tertulia::test::memory_store_tests
