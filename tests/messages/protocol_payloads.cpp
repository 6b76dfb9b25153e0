// SPDX-License-Identifier: BSD-3-Clause

// Content of a payload, and conversions of it.

#include <tertulia/chunks.hpp>
#include <tertulia/payload.hpp>

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/protocol_fixture.hpp"

namespace tertulia::test::protocol_tests {

TEST_F(protocol, a_payload_is_moved_out_when_nobody_shares_it) {
  auto x = payload::of(std::string(100, 'x'));
  const auto* at = x.get_if<std::string>()->data();
  const auto taken = std::move(x).take<std::string>();
  EXPECT_EQ(taken.data(), at);
}

TEST_F(protocol, a_payload_is_copied_out_when_somebody_shares_it) {
  auto x = payload::of(std::string(100, 'x'));
  const auto other = x;
  const auto taken = std::move(x).take<std::string>();
  EXPECT_EQ(taken, std::string(100, 'x'));
  ASSERT_NE(other.get_if<std::string>(), nullptr);
  EXPECT_EQ(*other.get_if<std::string>(), taken);
  EXPECT_NE(other.get_if<std::string>()->data(), taken.data());
}

TEST_F(protocol, a_payload_is_decoded_from_text) {
  const auto text = R"({"name":"tea","pieces":2})";
  EXPECT_EQ(payload::encoded(text).take<article>(), (article{"tea", 2}));
  EXPECT_EQ(payload::encoded(text).take<json>(), parse_json<json>(text));
  EXPECT_EQ(payload::encoded(text).get_if<article>(), nullptr);
  EXPECT_EQ(payload::encoded(text).text(), text);
  EXPECT_EQ(payload::of(article{"tea", 2}).text(), text);
  EXPECT_EQ(payload::of(article{"tea", 2}), payload::encoded(text));
}

TEST_F(protocol, a_payload_is_converted_between_compatible_types) {
  const auto x = payload::of(article{"tea", 2});
  EXPECT_EQ(payload{x}.take<label>(), label{"tea"});
  EXPECT_EQ((payload{x}.take<json>()), to_json(article{"tea", 2}));
  EXPECT_EQ(payload::of(json(7)).take<double>(), 7.0);
  EXPECT_EQ(payload::of(std::vector{1, 2}).take<chunks<int>>(),
            (chunks<int>{1, 2}));
  const auto as_label = payload{x}.as<label>();
  ASSERT_NE(as_label.get_if<label>(), nullptr);
  EXPECT_EQ(x.get_if<label>(), nullptr);
}

TEST_F(protocol, a_payload_of_another_shape_names_the_path) {
  EXPECT_EQ(
    error_text([] {
      static_cast<void>(
        payload::encoded(R"({"name":"tea","pieces":[]})").take<article>());
    }),
    "invalid_argument: $.pieces: expected an integer, found an array");
  for (const auto* text : {"", "{", "nul", "[1,]", "\xff"})
    EXPECT_EQ(code_from([&] {
                static_cast<void>(payload::encoded(text).take<json>());
              }),
              errc::invalid_argument)
      << text;
}

TEST_F(protocol, no_payload_is_not_null) {
  EXPECT_FALSE(payload{});
  EXPECT_TRUE(payload::of(json(nullptr)));
  EXPECT_TRUE(payload::encoded("null"));
  EXPECT_EQ(payload{}.text(), "");
  EXPECT_EQ(payload::of(json(nullptr)).text(), "null");
  EXPECT_FALSE(payload{} == payload::of(json(nullptr)));
  EXPECT_EQ(
    code_from([] { static_cast<void>(payload{}.take<std::optional<int>>()); }),
    errc::invalid_argument);
  EXPECT_EQ(payload::encoded("null").take<std::optional<int>>(), std::nullopt);
  EXPECT_FALSE(load<payload>(save(payload{})));
  EXPECT_TRUE(load<payload>(save(payload::of(std::optional<int>{}))));
  EXPECT_FALSE(payload{}.sealed());
}

TEST_F(protocol, a_payload_without_json_fails_where_it_is_encoded) {
  const auto x = payload::of(std::numeric_limits<double>::infinity());
  EXPECT_EQ(code_from([&] { static_cast<void>(x.sealed()); }),
            errc::invalid_argument);
  std::vector<char> bytes;
  caf::binary_serializer to{system, bytes};
  EXPECT_EQ(code_of(to(x)), errc::invalid_argument);
  EXPECT_FALSE(caf::deep_to_string(x).empty());
  EXPECT_EQ(payload{x}.take<double>(), std::numeric_limits<double>::infinity());
}

} // namespace tertulia::test::protocol_tests
