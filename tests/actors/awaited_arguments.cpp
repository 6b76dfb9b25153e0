// SPDX-License-Identifier: BSD-3-Clause

// Arguments of an awaited function that may be written inside the co_await: all
// that g++ 12 does not destroy twice. Arguments that it destroys twice do not
// compile, see compile_errors/.

#include <tertulia/json.hpp>

#include <memory>

#include "support/flows.hpp"

using namespace std::literals;

namespace tertulia::test::awaited_arguments_tests {

namespace {

struct progress {
  std::string phase;
  int percent = 0;

  friend bool operator==(const progress&, const progress&) = default;
};

BOOST_DESCRIBE_STRUCT(progress, (), (phase, percent))

struct point {
  int x = 0;
  int y = 0;

  friend bool operator==(const point&, const point&) = default;
};

BOOST_DESCRIBE_STRUCT(point, (), (x, y))

class adder {
public:
  explicit adder(std::string text) : text_(std::move(text)) {}

  std::string operator()() const {
    return text_ + '!';
  }

private:
  std::string text_;
};

[[maybe_unused]] const auto text_lambda = [text = "x"s] { return text; };
[[maybe_unused]] const auto owner_lambda
  = [p = std::make_unique<int>(1)] { return *p; };
[[maybe_unused]] const auto number_lambda = [n = 1] { return n; };
[[maybe_unused]] const auto plain_lambda = [] {};
using text_function = decltype(text_lambda);
using plain_text_function = std::remove_const_t<text_function>;

constexpr auto is_concerned = detail::copies_bytes_of_temporaries;

// Refused: temporaries that are not made by a constructor, and moved variables,
// which look the same.
static_assert(detail::survives_await<plain_text_function> != is_concerned);
static_assert(detail::survives_await<
                std::remove_const_t<decltype(owner_lambda)>> != is_concerned);
static_assert(detail::survives_await<progress> != is_concerned);

// Allowed: values with a name, with a constructor, or with nothing to destroy.
static_assert(detail::survives_await<text_function&>);
static_assert(detail::survives_await<std::reference_wrapper<text_function>>);
static_assert(
  detail::survives_await<std::remove_const_t<decltype(number_lambda)>>);
static_assert(
  detail::survives_await<std::remove_const_t<decltype(plain_lambda)>>);
static_assert(detail::survives_await<void (*)()>);
static_assert(detail::survives_await<std::function<void()>>);
static_assert(detail::survives_await<adder>);
static_assert(detail::survives_await<progress&>);
static_assert(detail::survives_await<point>);
static_assert(detail::survives_await<std::string>);
static_assert(detail::survives_await<std::vector<progress>>);
static_assert(detail::survives_await<std::optional<progress>>);
static_assert(detail::survives_await<std::unique_ptr<progress>>);
static_assert(detail::survives_await<json>);
static_assert(detail::survives_await<const char (&)[2]>);

int seven() {
  return 7;
}

} // namespace

using awaited_arguments = flows;

TEST_F(awaited_arguments, functions_with_a_name_may_hold_what_they_like) {
  const auto text = "a text that does not fit into the string itself"s;
  auto client = open_to([&](context ctx, input<int>, output<int>) //
                        -> task<std::string> {
    const auto with_text = [text] { return text; };
    auto owner = [p = std::make_unique<int>(2)] { return *p; };
    const auto a = co_await ctx.run_step("named", with_text);
    const auto b = co_await ctx.run_step("named again", with_text);
    const auto c = co_await ctx.run_step("referred to", std::ref(owner));
    const auto d = co_await ctx.run_step("with a constructor", adder{text});
    const auto e = co_await ctx.run_step("function", seven);
    co_return a + b + std::to_string(c) + d + std::to_string(e);
  });
  EXPECT_EQ(client.output(), text + text + "2" + text + "!7");
}

TEST_F(awaited_arguments, values_with_a_name_can_be_sent_again) {
  const auto phase = "a text that does not fit into the string itself"s;
  const auto flow
    = define([&](context, input<int>, output<progress> out) -> task<> {
        progress here{phase, 1};
        co_await out.send(here);
        here.percent = 2;
        co_await out.send(here);
        co_await out.send(phase, 3);
      });
  auto client = open(flow);
  EXPECT_EQ(
    client.received().chunks,
    (std::vector{progress{phase, 1}, progress{phase, 2}, progress{phase, 3}}));
}

TEST_F(awaited_arguments, aggregates_with_nothing_to_destroy_need_no_name) {
  const auto flow
    = define([](context, input<int>, output<point> out) -> task<> {
        co_await out.send(point{1, 2});
      });
  auto client = open(flow);
  EXPECT_EQ(client.received().chunks, (std::vector{point{1, 2}}));
}

} // namespace tertulia::test::awaited_arguments_tests
