// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/conversation.hpp>
#include <tertulia/detail/state_schema.hpp>
#include <tertulia/schema.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/refusal.hpp"

namespace tertulia::test::state_schema_tests {

namespace {

struct recipe {
  std::string name;
  int minutes = 0;

  friend bool operator==(const recipe&, const recipe&) = default;
};
BOOST_DESCRIBE_STRUCT(recipe, (), (name, minutes))

} // namespace

} // namespace tertulia::test::state_schema_tests

template <>
inline constexpr tertulia::type_version
  tertulia::version_of<tertulia::test::state_schema_tests::recipe>{"app.recipe",
                                                                   3};

namespace tertulia::test::state_schema_tests {

namespace {

using detail::migration;
using detail::state_schema;

/// Returns a migration that appends a text to the name.
std::function<void(json&)> add(std::string text) {
  return [text = std::move(text)](json& x) {
    x["name"] = x.at("name").get<std::string>() + text;
  };
}

/// Returns a state as a store returns it.
state stored(std::uint32_t version, std::string name = "app.recipe") {
  return state::plain(payload::encoded(R"({"name":"tea","minutes":3})"),
                      stored_type{name, version});
}

state_schema schema_with(std::vector<migration> steps) {
  return {stored_type::of<recipe>(), std::move(steps)};
}

const state_schema both = schema_with({{2, add("3")}, {1, add("2")}});

} // namespace

// -- stored types -------------------------------------------------------------

TEST(stored_type, says_nothing_by_default) {
  const stored_type none;
  EXPECT_EQ(none.name(), "");
  EXPECT_EQ(none.version(), 1u);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(stored_type::of<int>(), none);
  EXPECT_EQ((stored_type{"", 1}), none);
}

TEST(stored_type, says_what_its_type_says) {
  const auto type = stored_type::of<recipe>();
  EXPECT_EQ(type.name(), "app.recipe");
  EXPECT_EQ(type.version(), 3u);
  EXPECT_FALSE(type.empty());
  EXPECT_EQ(type, (stored_type{"app.recipe", 3}));
  EXPECT_NE(type, (stored_type{"app.recipe", 2}));
  EXPECT_NE(type, (stored_type{"app.meal", 3}));
  EXPECT_NE(type, stored_type{});
  EXPECT_EQ(std::hash<stored_type>{}(type),
            std::hash<stored_type>{}(stored_type{"app.recipe", 3}));
}

TEST(stored_type, keeps_a_name_that_is_not_of_this_program) {
  stored_type kept;
  {
    std::string name = "a name that is gone soon, so it must be copied";
    std::erase(name, ' ');
    kept = stored_type{name, 7};
    name.assign(name.size(), 'x');
  }
  EXPECT_EQ(kept.name(), "anamethatisgonesoon,soitmustbecopied");
}

TEST(stored_type, refuses_what_is_no_name_and_no_version) {
  for (const auto& name :
       {std::string{"a b"}, std::string{"a\n"}, std::string{"\xc3\xb6"},
        std::string(max_type_name + 1, 'x')})
    EXPECT_TRUE(has(refusal([&] { stored_type(name, 1); }), "ASCII"));
  EXPECT_EQ(stored_type(std::string(max_type_name, 'x'), 1).name().size(),
            max_type_name);
  refusal([] { stored_type("app.recipe", 0); });
}

TEST(stored_type, comes_to_json_and_back) {
  const auto type = stored_type::of<recipe>();
  const std::string text = R"({"name":"app.recipe","version":3})";
  EXPECT_EQ(to_json_text(type), text);
  EXPECT_EQ(parse_json<stored_type>(text), type);
  EXPECT_EQ(parse_json<stored_type>("{}"), stored_type{});
  EXPECT_EQ(refusal_to_read<stored_type>(R"({"version":0})"),
            "$.version: expected a version, found 0");
  EXPECT_TRUE(has(refusal_to_read<stored_type>(R"({"name":"a b"})"), "$.name"));
  EXPECT_EQ(schema_of<stored_type>().at("type"), "object");
}

TEST(stored_type, is_left_out_of_a_record_while_it_says_nothing) {
  snapshot_record record;
  EXPECT_FALSE(to_json(record).contains("type"));
  record.type = stored_type::of<recipe>();
  EXPECT_EQ(to_json(record).at("type").at("version"), 3);
  EXPECT_EQ(from_json<snapshot_record>(to_json(record)), record);
}

// -- states -------------------------------------------------------------------

TEST(state_type, is_no_part_of_the_id_but_of_what_is_equal) {
  const auto first = stored(1);
  const auto second = stored(2);
  EXPECT_EQ(first.text(), second.text());
  EXPECT_EQ(first.id(), second.id());
  EXPECT_FALSE(first == second);
  EXPECT_FALSE(first.same_as(second));
  EXPECT_TRUE(first == second.with_type(first.type()));
}

TEST(state_parts, are_the_same_only_if_all_of_them_are) {
  const auto x = ai::to_state(ai::conversation_state<recipe>{})
                   .with_artifact({"first", {ai::part::text("tea")}});
  EXPECT_TRUE(x.same_as(state{x}));
  EXPECT_FALSE(x.same_as(x.with_artifact({"file", {}})));
  EXPECT_FALSE(x.same_as(x.with_artifact(x.artifacts()[0])));
  EXPECT_FALSE(
    x.same_as(x.with_messages(x.messages().with(ai::user_text("tea")))));
  EXPECT_FALSE(x.same_as(x.with_custom(payload::of(recipe{"tea", 3}))));
  EXPECT_FALSE(x.same_as(x.with_type(stored_type{"app.other", 1})));
}

TEST(state_type, stays_when_the_state_changes) {
  const auto type = stored_type::of<recipe>();
  const auto talk = ai::to_state(ai::conversation_state<recipe>{});
  EXPECT_EQ(talk.type(), type);
  EXPECT_EQ(talk.with_custom(payload::of(recipe{"tea", 3})).type(), type);
  EXPECT_EQ(talk.with_messages(ai::message_log{}).type(), type);
  EXPECT_EQ(talk.with_artifact({"file", {}}).type(), type);
  EXPECT_EQ(state{}.type(), stored_type{});
}

TEST(state_type, travels) {
  caf::actor_system_config cfg;
  caf::actor_system system{cfg};
  for (const auto& x :
       {stored(2), stored(1, ""),
        ai::to_state(ai::conversation_state<recipe>{}), state{}}) {
    std::vector<char> bytes;
    caf::binary_serializer to{system, bytes};
    auto sent = x;
    EXPECT_FALSE(to(sent));
    state got;
    caf::binary_deserializer from{system, bytes};
    EXPECT_FALSE(from(got));
    EXPECT_EQ(got, x);
    EXPECT_EQ(got.type(), x.type());
  }
  encoded_state bad{stored(2)};
  bad.type_version = 0;
  refusal([&] { (void)bad.decode(); });
  bad.type_version = 1;
  bad.type_name = "a b";
  refusal([&] { (void)bad.decode(); });
}

TEST(state_type, of_another_version_is_not_read_as_it_is) {
  auto talk = ai::to_state(ai::conversation_state<recipe>{});
  EXPECT_EQ(ai::from_state<recipe>(talk), ai::conversation_state<recipe>{});
  for (const auto version : {2u, 4u}) {
    talk = talk.with_type(stored_type{"app.recipe", version});
    const auto error = error_of([&] { (void)ai::from_state<recipe>(talk); });
    EXPECT_TRUE(has(error_text(error), "failed_precondition: ", "version 3"));
    EXPECT_TRUE(has(error.message(), "version " + std::to_string(version)));
  }
}

// -- migrations ---------------------------------------------------------------

TEST(state_schema, takes_what_is_of_its_version_as_it_is) {
  const auto x = stored(3);
  EXPECT_TRUE(both.adopt(x).same_as(x));
  // a state that was stored without a name
  const auto unnamed = stored(3, "");
  const auto named = both.adopt(unnamed);
  EXPECT_TRUE(named.custom().same_as(unnamed.custom()));
  EXPECT_EQ(named.type(), both.known());
}

TEST(state_schema, takes_a_name_that_is_not_told_from_others) {
  const state_schema nameless{stored_type{}, {}};
  EXPECT_EQ(nameless.adopt(stored(1)).type(), stored_type{});
  EXPECT_EQ(error_text([&] { (void)nameless.adopt(stored(2)); }),
            "failed_precondition: the stored state is version 2 of "
            "\"app.recipe\", and this program "
            "knows none newer than version 1");
}

TEST(state_schema, runs_the_steps_in_order_from_the_version_that_is_stored) {
  for (const auto& [version, name] :
       {std::pair{1u, "tea23"}, std::pair{2u, "tea3"}, std::pair{3u, "tea"}}) {
    const auto x = both.adopt(stored(version));
    EXPECT_EQ(x.type(), both.known());
    auto value = x.custom();
    EXPECT_EQ(std::move(value).take<recipe>(), (recipe{name, 3}));
  }
  // a state that was stored before the type had a name
  EXPECT_EQ(both.adopt(stored(1, "")).text(),
            R"({"minutes":3,"name":"tea23"})");
}

TEST(state_schema, changes_the_custom_value_alone) {
  const ai::message_log log{{ai::user_text("tea?")}};
  const ai::artifact_list artifacts{std::vector{ai::artifact{"plan", {}}}};
  const auto x
    = state::conversation(log, stored(1).custom(), artifacts, stored(1).type());
  const auto y = both.adopt(x);
  EXPECT_TRUE(y.messages().same_as(log));
  EXPECT_TRUE(y.artifacts().same_as(artifacts));
  EXPECT_EQ(ai::from_state<recipe>(y).custom.name, "tea23");
  EXPECT_EQ(x.type().version(), 1u) << "what was stored is as it was";
}

TEST(state_schema, has_nothing_to_do_without_a_value) {
  const auto x = both.adopt(state::conversation({}, {}, {}, stored(1).type()));
  EXPECT_FALSE(x.custom());
  EXPECT_EQ(x.type(), both.known());
}

TEST(state_schema, refuses_what_is_newer_and_names_both_versions) {
  const auto error = error_of([&] { (void)both.adopt(stored(4)); });
  EXPECT_EQ(error_text(error),
            "failed_precondition: the stored state is version 4 of "
            "\"app.recipe\", and this program "
            "knows none newer than version 3 of \"app.recipe\"");
  EXPECT_EQ(parse_json<json>(error.details()),
            parse_json<json>(R"({"known":{"name":"app.recipe","version":3},)"
                             R"("stored":{"name":"app.recipe","version":4}})"));
  EXPECT_EQ(error_of([&] { both.check(stored(4).type()); }).message(),
            error.message());
}

TEST(state_schema, refuses_what_has_another_name) {
  for (const auto version : {1u, 2u, 3u, 4u}) {
    EXPECT_EQ(
      error_text([&] { (void)both.adopt(stored(version, "app.meal")); }),
      "failed_precondition: the stored state is version "
        + std::to_string(version)
        + " of \"app.meal\", and this program has "
          "version 3 of \"app.recipe\"");
  }
}

TEST(state_schema, refuses_what_is_older_than_its_first_step) {
  const auto schema = schema_with({{2, add("3")}});
  EXPECT_EQ(schema.adopt(stored(2)).type(), schema.known());
  const auto error = error_of([&] { (void)schema.adopt(stored(1)); });
  EXPECT_EQ(error_text(error),
            "failed_precondition: the stored state is version 1 of "
            "\"app.recipe\", and this program "
            "has version 3 of \"app.recipe\", but no migration from 1 to 2");
  EXPECT_EQ(parse_json<json>(error.details()).at("step"), 1);
  EXPECT_EQ(code_from([&] { (void)schema_with({}).adopt(stored(2)); }),
            errc::failed_precondition);
}

TEST(state_schema, says_which_step_has_failed_and_why) {
  const auto thrown = [](std::function<void(json&)> second) {
    const auto schema = schema_with({{1, add("2")}, {2, std::move(second)}});
    return error_of([&] { (void)schema.adopt(stored(1)); });
  };
  const auto own = thrown([](json&) {
    throw status_error{errc::data_loss, "no such tea"};
  });
  EXPECT_EQ(error_text(own),
            "data_loss: the migration of \"app.recipe\" from version 2 to "
            "3 failed: no such tea");
  EXPECT_EQ(parse_json<json>(own.details()).at("step"), 2);
  const auto other = thrown([](json&) { throw std::runtime_error{"cold"}; });
  EXPECT_TRUE(
    has(error_text(other), "internal: ", "from version 2 to 3 failed: cold"));
  EXPECT_EQ(thrown([](json&) { throw 3; }).code(), errc::internal);
  EXPECT_EQ(thrown([](json& x) { (void)x.at("nothing"); }).code(),
            errc::internal);
  const auto nan = thrown(
    [](json& x) { x["minutes"] = std::numeric_limits<double>::quiet_NaN(); });
  EXPECT_TRUE(
    has(error_text(nan), "invalid_argument: ", "from version 2 to 3"));
}

TEST(state_schema, refuses_steps_that_lead_nowhere) {
  const auto why = [](std::vector<migration> steps) {
    return refusal([&] { schema_with(std::move(steps)); });
  };
  const auto none = [](json&) {};
  EXPECT_EQ(why({{2, none}, {2, none}}),
            "the migration from version 2 is given twice");
  EXPECT_EQ(why({{1, none}}), "the migration from version 2 is missing");
  EXPECT_EQ(why({{0, none}, {1, none}, {2, none}}),
            "the migration from version 0 begins before version 1, which is "
            "the first");
  EXPECT_EQ(why({{2, none}, {3, none}}),
            "the migration from version 3 leads beyond the version of the "
            "type, which is 3");
  EXPECT_EQ(why({{2, nullptr}}),
            "the migration from version 2 is not a function");
  EXPECT_EQ(refusal([&] {
              state_schema(stored_type{}, {{1, none}});
            }),
            "the migration from version 1 leads beyond the version of the "
            "type, which is 1");
  const stored_type fourth{"app.recipe", 4};
  EXPECT_EQ(refusal([&] {
              state_schema(fourth, {{1, none}, {3, none}});
            }),
            "the migration from version 2 is missing");
}

} // namespace tertulia::test::state_schema_tests
