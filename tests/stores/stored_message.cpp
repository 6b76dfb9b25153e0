// SPDX-License-Identifier: BSD-3-Clause

#include "stores/core/contents/stored_message.hpp"

#include <tertulia/json.hpp>

#include <string>

#include "support/gen_messages.hpp"
#include "support/refusal.hpp"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tertulia::test::stored_message_tests {

RC_GTEST_PROP(stored_message, any_message_is_read_as_it_was_written, ()) {
  const auto message = *any_message();
  RC_ASSERT(read_stored_message(to_json_text(message)) == message);
}

RC_GTEST_PROP(stored_message, any_text_is_read_as_it_was_written, ()) {
  const auto role = *rc::gen::element(ai::role::system, ai::role::user,
                                      ai::role::model, ai::role::tool);
  std::string text;
  for (const auto& x :
       *rc::gen::container<std::vector<std::string>>(any_text()))
    text += x;
  const ai::message message{role, {ai::part::text(text)}};
  RC_ASSERT(read_stored_message(to_json_text(message)) == message);
}

TEST(stored_message, a_text_of_each_role_is_read) {
  for (const auto role :
       {ai::role::system, ai::role::user, ai::role::model, ai::role::tool}) {
    for (const auto* text : {"\"a\" \\ b\n\r\t\b\f", "a\x01"}) {
      const ai::message message{role, {ai::part::text(text)}};
      EXPECT_EQ(read_stored_message(to_json_text(message)), message);
    }
  }
}

TEST(stored_message, what_is_no_message_is_refused) {
  const auto text = to_json_text(ai::user_text("a\nb"));
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto part = text.substr(0, size);
    EXPECT_EQ(error_of([&] { return read_stored_message(part); }).code(),
              errc::invalid_argument)
      << part;
  }
}

} // namespace tertulia::test::stored_message_tests
