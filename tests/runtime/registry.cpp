// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/descriptor.hpp>
#include <tertulia/schema.hpp>

#include <caf/scoped_actor.hpp>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/memory.hpp"
#include "support/threaded.hpp"

using namespace std::literals;

namespace tertulia::test::registry_tests {

namespace {

struct order {
  std::string article;
  std::optional<std::uint8_t> pieces;
};
BOOST_DESCRIBE_STRUCT(order, (), (article, pieces))

struct registry : threaded {
  auto define_shop(std::string name = "shop") {
    return rt->define_bidi_flow(
      std::move(name),
      [](context, order first, input<order> in,
         output<std::string> out) -> task<std::vector<order>> {
        const witness here;
        std::vector<order> all{first};
        while (auto x = co_await in.next()) {
          all.push_back(*x);
          co_await out.send(x->article);
        }
        co_return all;
      },
      "Sells things.");
  }

  static task<int> nobody(context, input<int>, output<int>) {
    co_return 0;
  }
};

json parse(const std::string& text) {
  return parse_json<json>(text);
}

std::vector<json> numbers(int count) {
  std::vector<json> result;
  for (int i = 0; i < count; ++i)
    result.push_back(i);
  return result;
}

} // namespace

// -- keys and descriptors -----------------------------------------------------

TEST_F(registry, a_key_is_the_kind_and_the_name) {
  EXPECT_EQ(rt->define_bidi_flow("a", nobody).info().key, "/bidi-flow/a");
  EXPECT_EQ(rt->define_bidi_action("a", nobody).info().key, "/bidi-action/a");
  EXPECT_EQ(rt->define_bidi_flow("deep/er", nobody).info().key,
            "/bidi-flow/deep/er");
  const auto found = rt->find_action("/bidi-action/a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, "bidi-action");
  EXPECT_EQ(found->name, "a");
  EXPECT_EQ(found->description, "");
  EXPECT_FALSE(rt->find_action("/bidi-action/b"));
  EXPECT_FALSE(rt->find_action("a"));
  EXPECT_FALSE(rt->find_action(""));
}

TEST_F(registry, actions_are_listed_by_key) {
  EXPECT_TRUE(rt->actions().empty());
  rt->define_bidi_flow("z", nobody);
  rt->define_bidi_flow("B", nobody);
  rt->define_bidi_action("z", nobody);
  rt->define_bidi_flow("a", nobody);
  std::vector<std::string> keys;
  for (const auto& x : rt->actions())
    keys.push_back(x.key);
  EXPECT_EQ(keys, (std::vector{"/bidi-action/z"s, "/bidi-flow/B"s,
                               "/bidi-flow/a"s, "/bidi-flow/z"s}));
}

TEST_F(registry, a_descriptor_has_the_four_schemas) {
  define_shop();
  const auto found = rt->find_action("/bidi-flow/shop");
  ASSERT_TRUE(found);
  const auto order_schema
    = R"("type":"object","properties":{"article":{"type":"string"},)"s
      + R"("pieces":{"type":"integer","minimum":0,"maximum":255}},)"
      + R"("required":["article"])";
  const auto draft
    = R"("$schema":"https://json-schema.org/draft/2020-12/schema")"s;
  EXPECT_EQ(found->input_schema, parse("{" + order_schema + "," + draft + "}"));
  EXPECT_EQ(found->init_schema, found->input_schema);
  EXPECT_EQ(found->stream_schema, parse(R"({"type":"string",)" + draft + "}"));
  EXPECT_EQ(found->output_schema, parse(R"({"type":"array","items":{)"
                                        + order_schema + "}," + draft + "}"));
  const auto text = to_json_text(*found);
  EXPECT_TRUE(text.starts_with(
    R"({"key":"/bidi-flow/shop","kind":"bidi-flow","name":"shop",)"
    R"("description":"Sells things.","inputSchema":{)"))
    << text;
  EXPECT_EQ(parse_json<descriptor>(text), *found);
}

TEST_F(registry, an_action_without_initialization_data_takes_nothing) {
  const auto info = rt->define_bidi_flow("a", nobody).info();
  EXPECT_EQ(info.init_schema, schema_of<nothing>());
}

TEST_F(registry, the_front_desk_lists_the_same_for_actors) {
  define_shop("b");
  define_shop("a");
  caf::scoped_actor self{system};
  self->request(rt->front_desk(), caf::duration{patience}, list_atom_v)
    .receive([&](const action_list& x) { EXPECT_EQ(x.actions, rt->actions()); },
             [&](const caf::error& error) {
               FAIL() << to_status(error).what();
             });
}

TEST_F(registry, a_key_is_defined_once) {
  auto first = define_shop();
  EXPECT_EQ(error_text([&] { define_shop(); }),
            "already_exists: the action /bidi-flow/shop is defined already");
  rt->define_bidi_action("shop", nobody);
  auto talk = first.stream_bidi();
  talk.close();
  EXPECT_EQ(talk.output(patience).size(), 1u) << "the first one stays";
}

TEST_F(registry, a_name_is_printable_and_unambiguous) {
  const auto code = [&](const std::string& name) {
    return code_from([&] { rt->define_bidi_flow(name, nobody); });
  };
  for (const auto& name :
       {""s, "/"s, "/a"s, "a/"s, "a b"s, "a\tb"s, "a\n"s, "a\0b"s, "\x7f"s,
        "caf\xc3\xa9"s, std::string(129, 'a')}) {
    EXPECT_EQ(code(name), errc::invalid_argument) << name;
    EXPECT_EQ(
      code_from([&] { static_cast<void>(rt->new_bidi_action(name, nobody)); }),
      errc::invalid_argument)
      << name;
  }
  EXPECT_TRUE(rt->actions().empty());
  EXPECT_EQ(code(std::string(128, 'a')), errc::ok);
  EXPECT_EQ(code("~"), errc::ok);
}

TEST_F(registry, definitions_may_race) {
  std::atomic<int> defined = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n)
        if (code_from(
              [&] { rt->define_bidi_flow("flow" + std::to_string(n), nobody); })
            == errc::ok)
          ++defined;
    });
  threads.clear();
  EXPECT_EQ(defined, 50);
  EXPECT_EQ(rt->actions().size(), 50u);
}

// -- actions without a key ----------------------------------------------------

TEST_F(registry, an_action_without_a_key_opens_and_is_not_listed) {
  auto action = rt->new_bidi_action("quiet", nobody);
  auto same_name = rt->new_bidi_action("quiet", nobody);
  EXPECT_EQ(action.info().key, "");
  EXPECT_EQ(action.info().name, "quiet");
  EXPECT_TRUE(rt->actions().empty());
  EXPECT_FALSE(rt->find_action("/bidi-action/quiet"));
  auto talk = action.stream_bidi();
  EXPECT_EQ(talk.output(patience), 0);
}

TEST_F(registry, an_action_without_a_key_goes_with_its_last_handle) {
  auto token = std::make_shared<int>();
  const std::weak_ptr<int> alive = token;
  auto action = std::optional{rt->new_bidi_action(
    "quiet", [token](context, input<int> in, output<int>) -> task<int> {
      const witness here;
      while (co_await in.next())
        ;
      co_return 1;
    })};
  token.reset();
  const auto late = action->opening_for(chunk_sink{});
  auto talk = action->stream_bidi();
  action.reset();
  EXPECT_FALSE(alive.expired()) << "a connection is open";
  talk.close();
  EXPECT_EQ(talk.output(patience), 1);
  { const auto gone = std::move(talk); }
  EXPECT_TRUE(eventually([&] { return alive.expired(); }));
  EXPECT_EQ(code_from([&] { static_cast<void>(rt->stream_bidi(late.key)); }),
            errc::not_found);
}

TEST_F(registry, actions_without_a_key_leave_nothing_behind) {
  const auto make = [&](int count) {
    for (auto i = 0; i < count; ++i)
      static_cast<void>(rt->new_bidi_action("quiet", nobody));
  };
  make(100);
  const auto before = all_bytes_in_use();
  make(5'000);
  EXPECT_LT(all_bytes_in_use(), before + 100'000); // 20 bytes for each action
}

// -- access by key ------------------------------------------------------------

TEST_F(registry, any_action_speaks_json) {
  define_shop();
  auto talk = rt->stream_bidi("/bidi-flow/shop",
                              with_init(parse(R"({"article":"bag"})")));
  talk.send(parse(R"({"article":"tea","pieces":2})"));
  talk.send(parse(R"({"article":"milk","pieces":null,"colour":"white"})"));
  talk.close();
  EXPECT_EQ(read_turn(talk), (std::vector<json>{"tea", "milk"}));
  EXPECT_EQ(talk.output(patience),
            parse(R"([{"article":"bag"},{"article":"tea","pieces":2},)"
                  R"({"article":"milk"}])"));
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(registry, an_action_runs_once_by_key) {
  define_shop();
  std::vector<json> seen;
  const auto output = rt->run_action(
    "/bidi-flow/shop", {parse(R"({"article":"tea"})")},
    [&](const json& chunk) { seen.push_back(chunk); },
    with_init(parse(R"({"article":"bag"})")), with_deadline(1h));
  EXPECT_EQ(seen, std::vector<json>{"tea"});
  EXPECT_EQ(output, parse(R"([{"article":"bag"},{"article":"tea"}])"));
  EXPECT_EQ(rt->run_action("/bidi-flow/shop", {}),
            parse(R"([{"article":""}])"));
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(registry, one_input_of_known_types_is_answered_with_the_output) {
  define_shop();
  const auto output
    = rt->run_action<std::vector<order>>("/bidi-flow/shop", order{"tea", 2});
  ASSERT_EQ(output.size(), 2u);
  EXPECT_EQ(output[1].article, "tea");
  EXPECT_EQ(output[1].pieces, 2);
  EXPECT_EQ(
    code_from([&] { rt->run_action<order>("/bidi-flow/shop", order{}); }),
    errc::invalid_argument);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(registry, a_run_may_exceed_both_windows) {
  define_counter();
  for (const auto window : {0u, 1u, 64u}) {
    SCOPED_TRACE(window);
    int count = 0;
    const auto output = rt->run_action(
      "/bidi-flow/counter", std::vector<json>(100, json(100)),
      [&](const json& chunk) { ASSERT_EQ(chunk, count++); },
      with_chunk_window(window), with_input_window(window));
    EXPECT_EQ(output, 10'000);
    EXPECT_EQ(count, 10'000);
  }
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(registry, a_run_needs_no_listener) {
  define_counter();
  EXPECT_EQ(rt->run_action("/bidi-flow/counter", {1'000, 1'000}), 2'000);
}

TEST_F(registry, an_exception_of_the_listener_cancels_the_run) {
  define_counter();
  for (int round = 0; round < 50; ++round)
    EXPECT_THROW(rt->run_action("/bidi-flow/counter",
                                std::vector<json>(100, json(100)),
                                [](const json& chunk) {
                                  if (chunk == 70)
                                    throw std::out_of_range{"enough"};
                                }),
                 std::out_of_range);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(registry, an_action_may_end_before_it_has_read_all_inputs) {
  rt->define_bidi_flow("brief",
                       [](context, input<int> in, output<int>) -> task<int> {
                         const witness here;
                         co_return *co_await in.next();
                       });
  EXPECT_EQ(rt->run_action("/bidi-flow/brief", numbers(1'000)), 0);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(registry, a_run_throws_what_the_body_throws) {
  rt->define_bidi_flow(
    "failing", [](context, input<int> in, output<int> out) -> task<int> {
      const witness here;
      co_await out.send(*co_await in.next());
      throw status_error{errc::out_of_range, "too far"};
    });
  std::vector<json> seen;
  const auto error = error_of([&] {
    rt->run_action("/bidi-flow/failing", numbers(1'000),
                   [&](const json& chunk) { seen.push_back(chunk); });
  });
  EXPECT_EQ(seen, std::vector<json>{0});
  EXPECT_EQ(error_text(error), "out_of_range: too far");
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(registry, a_run_names_the_path_of_what_does_not_fit) {
  define_shop();
  EXPECT_TRUE(error_text([&] {
                rt->run_action("/bidi-flow/shop",
                               {parse(R"({"article":"tea"})"),
                                parse(R"({"pieces":256})")});
              }).starts_with("invalid_argument: $.pieces: "));
  EXPECT_TRUE(error_text([&] {
                rt->run_action("/bidi-flow/shop", {}, {},
                               with_init(parse(R"({"article":[]})")));
              }).starts_with("invalid_argument: $.article: "));
  EXPECT_EQ(code_from([&] { rt->run_action("/bidi-flow/none", {}); }),
            errc::not_found);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(registry, a_number_without_json_goes_nowhere) {
  rt->define_bidi_flow(
    "mirror", [](context, input<json> in, output<json> out) -> task<json> {
      const witness here;
      json last;
      while (auto x = co_await in.next()) {
        co_await out.send(*x);
        last = *x;
      }
      co_return last;
    });
  const json nan = std::numeric_limits<double>::quiet_NaN();
  define_counter();
  EXPECT_EQ(code_from([&] { rt->run_action("/bidi-flow/counter", {nan}); }),
            errc::invalid_argument);
  EXPECT_TRUE(rt->run_action("/bidi-flow/mirror", {nan}).is_number_float())
    << "nobody encodes what stays JSON inside a process";
  EXPECT_TRUE(nothing_is_left());
}

} // namespace tertulia::test::registry_tests
