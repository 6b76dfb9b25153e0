// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>
#include <tertulia/store_contract/suite.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

// Copies of sessions. Included by tertulia/store_contract.hpp.

namespace tertulia {

TYPED_TEST_P(store_contract, a_copy_is_what_its_origin_was) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2");
    this->save_all(first, {1, 2, 3});
    this->restore(first, 2);
    this->label(first, 3, {"good"});
    this->work_on(first, this->talk(3), 7);
    const auto before = this->get(get_session_request{first});
    const auto info = this->get(copy_session_request{first, second});
    EXPECT_EQ(info.agent, second.agent);
    EXPECT_EQ(info.id, second.id);
    EXPECT_GE(info.created_at, before.info.updated_at);
    EXPECT_EQ(info.updated_at, info.created_at);
    EXPECT_EQ(info.head, 2u);
    EXPECT_EQ(info.next_turn, 7u);
    EXPECT_EQ(info.records, 3u);
    const auto copy = this->get(get_session_request{second});
    EXPECT_EQ(copy.info, info);
    EXPECT_EQ(copy.content, this->talk(3));
    EXPECT_EQ(this->sequences(second, true), this->sequences(first, true));
    EXPECT_EQ(this->sequences(second), this->sequences(first));
    for (const std::uint64_t i : {1, 2, 3}) {
      auto expected = this->read(first, i);
      expected.session = second.id;
      EXPECT_EQ(this->read(second, i), expected);
    }
    EXPECT_EQ(this->info(first), before.info);
  }
}

TYPED_TEST_P(store_contract, a_copy_up_to_a_record_has_its_ancestors) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2", "/agent/b");
    this->save_all(first, {1, 2, 3});
    this->save(first, this->number(4), 1, append_rule::anywhere);
    this->save(first, this->number(5), 4);
    this->label(first, 1, {"root"});
    // an orphan can be continued, too
    const auto info = this->get(copy_session_request{first, second, 3});
    EXPECT_EQ(info.head, 3u);
    EXPECT_EQ(info.next_turn, 1u);
    EXPECT_EQ(info.records, 3u);
    const std::vector<std::uint64_t> way{1, 2, 3};
    EXPECT_EQ(this->sequences(second), way);
    EXPECT_EQ(this->sequences(second, true), way);
    EXPECT_EQ(this->content(second), this->number(3));
    EXPECT_EQ(this->read(second, 1).labels, std::vector<std::string>{"root"});
    EXPECT_EQ(this->save(second, this->number(6), 3).record.sequence, 4u);

    const auto third = this->at("3");
    this->get(copy_session_request{first, third, 4});
    EXPECT_EQ(this->sequences(third, true), (std::vector<std::uint64_t>{1, 4}));
    EXPECT_EQ(this->save(third, this->number(6), 4).record.sequence, 5u);
  }
}

TYPED_TEST_P(store_contract, a_copy_and_its_origin_go_their_own_ways) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2");
    const auto trunk = this->talk(5);
    const auto more = [&](const char* text) {
      return trunk.with_messages(trunk.messages().with(ai::user_text(text)));
    };
    this->save(first, trunk, 0);
    this->get(copy_session_request{first, second});
    this->save(first, more("one way"), 1);
    this->save(second, more("the other"), 1);
    for (const auto& of : {first, second})
      EXPECT_EQ(this->content(of, 1), trunk);
    EXPECT_EQ(this->content(first), more("one way"));
    EXPECT_EQ(this->content(second), more("the other"));
    EXPECT_EQ(
      this->code(get_snapshot_request{{first.agent, {}, this->id_of(trunk)}}),
      errc::failed_precondition);
    EXPECT_EQ(this->get(delete_session_request{first}), (erase_result{2, 1}));
    EXPECT_EQ(this->restore(second, 1).content, trunk);
    EXPECT_EQ(this->restore(second, 2).content, more("the other"));
    EXPECT_EQ(this->get(delete_session_request{second}), (erase_result{2, 2}));
  }
}

TYPED_TEST_P(store_contract, a_copy_keeps_a_message_that_its_origin_replaces) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2");
    const auto content = this->talk(3);
    this->work_on(first, content, 1);
    this->get(copy_session_request{first, second});
    this->get(
      save_session_request{first,
                           content.with_messages(content.messages().with_back(
                             ai::user_text("another"))),
                           1});
    EXPECT_EQ(this->content(second), content);
    EXPECT_EQ(this->content(first).messages().back(), ai::user_text("another"));
  }
}

TYPED_TEST_P(store_contract, a_copy_needs_an_origin_and_a_name_of_its_own) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2");
    this->save_all(first, {1});
    this->save_all(second, {2});
    EXPECT_EQ(this->code(copy_session_request{first, second}),
              errc::already_exists);
    EXPECT_NE(this->store.error().message().find("\"2\""), std::string::npos);
    EXPECT_EQ(this->code(copy_session_request{first, first}),
              errc::already_exists);
    const auto third = this->at("3");
    EXPECT_EQ(this->code(copy_session_request{third, this->at("4")}),
              errc::not_found);
    EXPECT_EQ(this->code(copy_session_request{first, third, 2}),
              errc::not_found);
    EXPECT_EQ(this->code(copy_session_request{first, this->at("")}),
              errc::invalid_argument);
    EXPECT_EQ(this->code(copy_session_request{this->at("1", ""), third}),
              errc::invalid_argument);
    EXPECT_EQ(this->code(get_session_request{third}), errc::not_found);
    EXPECT_EQ(this->content(second), this->number(2));
  }
}

} // namespace tertulia
