// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/store.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "cases/case.hpp"
#include <gtest/gtest.h>

// Copies of sessions.

namespace tertulia {

TEST_P(store_contract, a_copy_is_what_its_origin_was) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto first = at("1");
  const auto second = at("2");
  save_all(first, {1, 2, 3});
  restore(first, 2);
  label(first, 3, {"good"});
  work_on(first, talk(3), 7);
  const auto before = get(get_session_request{first});
  const auto answer = get(copy_session_request{first, second});
  EXPECT_EQ(answer.agent, second.agent);
  EXPECT_EQ(answer.id, second.id);
  EXPECT_GE(answer.created_at, before.info.updated_at);
  EXPECT_EQ(answer.updated_at, answer.created_at);
  EXPECT_EQ(answer.head, 2u);
  EXPECT_EQ(answer.next_turn, 7u);
  EXPECT_EQ(answer.records, 3u);
  const auto copy = get(get_session_request{second});
  EXPECT_EQ(copy.info, answer);
  EXPECT_EQ(copy.content, talk(3));
  EXPECT_EQ(sequences(second, true), sequences(first, true));
  EXPECT_EQ(sequences(second), sequences(first));
  for (const std::uint64_t i : {1, 2, 3}) {
    auto expected = read(first, i);
    expected.session = second.id;
    EXPECT_EQ(read(second, i), expected);
  }
  EXPECT_EQ(info(first), before.info);
}

TEST_P(store_contract, a_copy_up_to_a_record_has_its_ancestors) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto first = at("1");
  const auto second = at("2", "/agent/b");
  save_all(first, {1, 2, 3});
  save(first, number(4), 1, append_rule::anywhere);
  save(first, number(5), 4);
  label(first, 1, {"root"});
  // an orphan can be continued, too
  const auto info = get(copy_session_request{first, second, 3});
  EXPECT_EQ(info.head, 3u);
  EXPECT_EQ(info.next_turn, 1u);
  EXPECT_EQ(info.records, 3u);
  const std::vector<std::uint64_t> way{1, 2, 3};
  EXPECT_EQ(sequences(second), way);
  EXPECT_EQ(sequences(second, true), way);
  EXPECT_EQ(content(second), number(3));
  EXPECT_EQ(read(second, 1).labels, std::vector<std::string>{"root"});
  EXPECT_EQ(save(second, number(6), 3).record.sequence, 4u);

  const auto third = at("3");
  get(copy_session_request{first, third, 4});
  EXPECT_EQ(sequences(third, true), (std::vector<std::uint64_t>{1, 4}));
  EXPECT_EQ(save(third, number(6), 4).record.sequence, 5u);
}

TEST_P(store_contract, a_copy_and_its_origin_go_their_own_ways) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto first = at("1");
  const auto second = at("2");
  const auto trunk = talk(5);
  const auto more = [&](const char* text) {
    return trunk.with_messages(trunk.messages().with(ai::user_text(text)));
  };
  save(first, trunk, 0);
  get(copy_session_request{first, second});
  save(first, more("one way"), 1);
  save(second, more("the other"), 1);
  for (const auto& of : {first, second})
    EXPECT_EQ(content(of, 1), trunk);
  EXPECT_EQ(content(first), more("one way"));
  EXPECT_EQ(content(second), more("the other"));
  EXPECT_EQ(code(get_snapshot_request{{first.agent, {}, id_of(trunk)}}),
            errc::failed_precondition);
  EXPECT_EQ(get(delete_session_request{first}), (erase_result{2, 1}));
  EXPECT_EQ(restore(second, 1).content, trunk);
  EXPECT_EQ(restore(second, 2).content, more("the other"));
  EXPECT_EQ(get(delete_session_request{second}), (erase_result{2, 2}));
}

TEST_P(store_contract, a_copy_keeps_a_message_that_its_origin_replaces) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto first = at("1");
  const auto second = at("2");
  const auto origin = talk(3);
  work_on(first, origin, 1);
  get(copy_session_request{first, second});
  get(save_session_request{
    first,
    origin.with_messages(origin.messages().with_back(ai::user_text("another"))),
    1});
  EXPECT_EQ(content(second), origin);
  EXPECT_EQ(content(first).messages().back(), ai::user_text("another"));
}

TEST_P(store_contract, a_copy_can_store_what_its_origin_stored_later) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto first = at("1");
  const auto second = at("2");
  const auto trunk = talk(3);
  const auto longer
    = trunk.with_messages(trunk.messages().with(ai::user_text("and more")));
  save(first, trunk, 0);
  save(first, longer, 1);
  get(copy_session_request{first, second, 1});
  save(second, longer, 1);
  get(delete_session_request{first});
  EXPECT_EQ(content(second), longer);
}

TEST_P(store_contract, a_copy_needs_an_origin_and_a_name_of_its_own) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto first = at("1");
  const auto second = at("2");
  save_all(first, {1});
  save_all(second, {2});
  EXPECT_EQ(code(copy_session_request{first, second}), errc::already_exists);
  EXPECT_NE(store.error().message().find("\"2\""), std::string::npos);
  EXPECT_EQ(code(copy_session_request{first, first}), errc::already_exists);
  const auto third = at("3");
  EXPECT_EQ(code(copy_session_request{third, at("4")}), errc::not_found);
  EXPECT_EQ(code(copy_session_request{first, third, 2}), errc::not_found);
  EXPECT_EQ(code(copy_session_request{first, at("")}), errc::invalid_argument);
  EXPECT_EQ(code(copy_session_request{at("1", ""), third}),
            errc::invalid_argument);
  EXPECT_EQ(code(get_session_request{third}), errc::not_found);
  EXPECT_EQ(content(second), number(2));
}

} // namespace tertulia
