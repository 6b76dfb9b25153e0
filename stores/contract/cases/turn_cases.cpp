// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/store.hpp>
#include <tertulia/store_contract.hpp>

#include <cstdint>
#include <string>
#include <utility>

#include <gtest/gtest.h>

// Inputs that a session counts, and turns that it knows by name.

namespace tertulia {

TEST_P(store_contract, a_session_counts_its_inputs_and_names_its_turn) {
  const auto session = at("s");
  const auto append
    = [&](int x, std::uint64_t parent, std::uint64_t inputs, std::string name) {
        const auto content = number(x);
        auto made = record(session, content, parent);
        made.inputs = inputs;
        save_snapshot_request change{std::move(made), content,
                                     append_rule::at_head};
        if (!name.empty())
          change.turn = turn_id{std::move(name)};
        EXPECT_EQ(get(change).record.inputs, inputs);
      };
  append(1, 0, 1, "first");
  EXPECT_EQ(info(session).inputs, 1u);
  EXPECT_EQ(info(session).turn, turn_id{"first"});
  append(2, 1, 3, "");
  EXPECT_EQ(info(session).inputs, 3u);
  EXPECT_FALSE(info(session).turn);
  EXPECT_EQ(past_turns(session), "first 1,");
  save_session_request work{session, number(3), 2};
  work.inputs = 4;
  work.turn = turn_id{"third"};
  EXPECT_EQ(get(work).inputs, 4u);
  EXPECT_EQ(info(session).turn, turn_id{"third"});
  EXPECT_EQ(past_turns(session), "first 1,");
  if (is_managed()) {
    get(copy_session_request{session, at("whole")});
    EXPECT_EQ(info(at("whole")).inputs, 4u);
    EXPECT_EQ(info(at("whole")).turn, turn_id{"third"});
    EXPECT_EQ(past_turns(at("whole")), "first 1,");
    get(copy_session_request{session, at("part"), 1});
    EXPECT_EQ(info(at("part")).inputs, 1u);
    EXPECT_EQ(info(at("part")).turn, turn_id{"first"});
    EXPECT_EQ(past_turns(at("part")), "");
  }
  restore(session, 1);
  EXPECT_EQ(info(session).inputs, 1u);
  EXPECT_EQ(info(session).turn, turn_id{"first"}) << "it is the last one again";
  save(session, number(5), 1);
  EXPECT_FALSE(info(session).inputs) << "they were not counted";
  EXPECT_FALSE(info(session).turn);
  EXPECT_EQ(past_turns(session), "");
  work.turn = turn_id{std::string(max_turn_id_size + 1, 'x')};
  EXPECT_EQ(code(work), errc::invalid_argument);
  work.turn = turn_id{"\xff"};
  EXPECT_EQ(code(work), errc::invalid_argument);
  work.turn = turn_id{};
  EXPECT_EQ(code(work), errc::invalid_argument);
}

TEST_P(store_contract, a_session_knows_its_last_named_turns) {
  const auto session = at("s");
  save_session_request work{session, number(0), 0};
  const auto take = [&](std::string name, std::uint64_t inputs) {
    work.inputs = inputs;
    work.turn = turn_id{std::move(name)};
    return get(work);
  };
  for (std::uint64_t i = 1; i <= max_past_turns + 2; ++i)
    take("turn " + std::to_string(i), i);
  auto known = info(session);
  EXPECT_EQ(known.turn, turn_id{"turn 18"});
  ASSERT_EQ(known.past_turns.size(), max_past_turns);
  EXPECT_EQ(known.past_turns.front().name, turn_id{"turn 2"});
  EXPECT_EQ(known.past_turns.front().inputs, 2u);
  EXPECT_EQ(known.past_turns.back().name, turn_id{"turn 17"});
  known = take("turn 18", 19); // it has taken another input
  EXPECT_EQ(known.past_turns.size(), max_past_turns);
  known = take("turn 3", 20);
  EXPECT_EQ(known.turn, turn_id{"turn 3"});
  EXPECT_EQ(known.past_turns.size(), max_past_turns) << "each name once";
  known = take("turn 5", 4); // an earlier state
  EXPECT_EQ(known.turn, turn_id{"turn 5"});
  ASSERT_EQ(known.past_turns.size(), 2u);
  EXPECT_EQ(known.past_turns.back().name, turn_id{"turn 4"});
}

TEST_P(store_contract, a_branch_has_the_turns_of_its_parent) {
  const auto session = at("s");
  const auto append = [&](int x, std::uint64_t parent, const char* name) {
    const auto content = number(x);
    auto made = record(session, content, parent);
    made.inputs = parent + 1;
    save_snapshot_request change{std::move(made), content,
                                 append_rule::anywhere};
    if (*name != '\0')
      change.turn = turn_id{name};
    get(change);
  };
  append(1, 0, "a");
  append(2, 1, "b");
  append(3, 1, "");
  EXPECT_EQ(past_turns(session), "a 1,") << "b is in another branch";
  append(4, 0, "c");
  EXPECT_EQ(past_turns(session), "") << "a is in another tree";
}

} // namespace tertulia
