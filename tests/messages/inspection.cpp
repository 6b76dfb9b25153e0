// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/inspect.hpp>
#include <tertulia/json.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/deep_to_string.hpp>
#include <caf/make_message.hpp>
#include <caf/message.hpp>
#include <caf/type_id.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace gauge {

/// Not an aggregate: the type of a message element must not be one.
struct reading {
  reading() = default;

  reading(std::string sensor_name, double value)
    : sensor_name(std::move(sensor_name)), value(value) {}

  std::string sensor_name;
  double value = 0;
  std::optional<float> error;
  std::vector<reading> parts;

  friend bool operator==(const reading&, const reading&) = default;
};
BOOST_DESCRIBE_STRUCT(reading, (), (sensor_name, value, error, parts))

struct empty {
  friend bool operator==(const empty&, const empty&) = default;
};
BOOST_DESCRIBE_STRUCT(empty, (), ())

/// Described struct with its own inspection.
struct own {
  int x = 0;
  int y = 0;
};
BOOST_DESCRIBE_STRUCT(own, (), (x, y))

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, own& x) {
  return f(caf::meta::type_name("own"), x.x);
}

/// Type whose codec fails with a foreign exception.
struct thrower {};

struct holds_a_thrower {
  thrower x;
};
BOOST_DESCRIBE_STRUCT(holds_a_thrower, (), (x))

} // namespace gauge

template <>
struct tertulia::json_codec<gauge::thrower> {
  static void write(std::string&, const gauge::thrower&, const json_path&) {
    throw std::runtime_error("no luck");
  }

  static gauge::thrower read(const json&, const json_path&) {
    throw std::runtime_error("no luck");
  }

  static json schema() {
    return json::object();
  }
};

// far from the blocks of the library and of other tests
CAF_BEGIN_TYPE_ID_BLOCK(inspection_test, caf::first_custom_type_id + 7000)

  CAF_ADD_TYPE_ID(inspection_test, (gauge::reading))
  CAF_ADD_TYPE_ID(inspection_test, (std::vector<gauge::reading>))

CAF_END_TYPE_ID_BLOCK(inspection_test)

namespace tertulia::test::inspection_tests {

namespace {

struct local {
  int x = 0;
  friend bool operator==(const local&, const local&) = default;
};
BOOST_DESCRIBE_STRUCT(local, (), (x))

template <class T>
caf::error save(const T& x, std::vector<char>& to) {
  caf::binary_serializer sink{nullptr, to};
  return sink(x);
}

template <class T>
caf::error load(T& x, const std::vector<char>& from) {
  caf::binary_deserializer source{nullptr, from};
  return source(x);
}

template <class T>
T round_trip(const T& x) {
  std::vector<char> bytes;
  T result{};
  EXPECT_EQ(save(x, bytes), caf::none);
  EXPECT_EQ(load(result, bytes), caf::none);
  return result;
}

std::uint64_t bits(double x) {
  return std::bit_cast<std::uint64_t>(x);
}

TEST(inspection, a_described_struct_survives_the_wire) {
  gauge::reading x{"attic \"1\"", 21.5};
  x.error = 0.1f;
  x.parts.emplace_back("left", -3);
  EXPECT_EQ(round_trip(x), x);
  EXPECT_EQ(round_trip(gauge::empty{}), gauge::empty{});
  EXPECT_EQ(round_trip(local{3}), local{3});
}

TEST(inspection, it_is_sent_as_its_canonical_text) {
  const gauge::reading x{"attic", 21.5};
  std::vector<char> bytes;
  std::vector<char> expected;
  ASSERT_EQ(save(x, bytes), caf::none);
  ASSERT_EQ(save(to_json_text(x), expected), caf::none);
  EXPECT_EQ(bytes, expected);
}

TEST(inspection, containers_of_described_structs_survive_the_wire) {
  const std::vector<gauge::reading> xs{{"a", 1}, {"b", 2}};
  EXPECT_EQ(round_trip(xs), xs);
  const std::map<std::string, local> ys{{"a", {1}}, {"b", {2}}};
  EXPECT_EQ(round_trip(ys), ys);
}

TEST(inspection, the_doubles_that_caf_damages_survive) {
  using limits = std::numeric_limits<double>;
  for (auto x : {-0.0, limits::denorm_min(), -limits::denorm_min(),
                 limits::min() / 2, limits::max(), limits::lowest(), 0.1})
    EXPECT_EQ(bits(round_trip(gauge::reading{"x", x}).value), bits(x)) << x;
}

TEST(inspection, what_is_no_number_is_refused) {
  using limits = std::numeric_limits<double>;
  for (auto x :
       {limits::quiet_NaN(), limits::infinity(), -limits::infinity()}) {
    std::vector<char> bytes;
    const auto err = save(gauge::reading{"x", x}, bytes);
    EXPECT_EQ(code_of(err), errc::invalid_argument);
    EXPECT_TRUE(to_status(err).message().starts_with(
      "$.value: expected a finite number"));
    EXPECT_TRUE(bytes.empty());
  }
}

TEST(inspection, bytes_that_are_no_json_are_refused) {
  for (const std::string text : {"", "{", R"({"value":"x"})", R"([])"}) {
    std::vector<char> bytes;
    ASSERT_EQ(save(text, bytes), caf::none);
    gauge::reading x{"before", 1};
    EXPECT_EQ(code_of(load(x, bytes)), errc::invalid_argument) << text;
    EXPECT_EQ(x, (gauge::reading{"before", 1}));
  }
}

TEST(inspection, bytes_that_end_early_are_refused) {
  std::vector<char> bytes;
  ASSERT_EQ(save(gauge::reading{"attic", 21.5}, bytes), caf::none);
  bytes.resize(bytes.size() / 2);
  gauge::reading x;
  EXPECT_NE(load(x, bytes), caf::none);
}

TEST(inspection, no_exception_leaves_it) {
  std::vector<char> bytes;
  EXPECT_EQ(code_of(save(gauge::holds_a_thrower{}, bytes)), errc::internal);
  ASSERT_EQ(save(std::string{R"({"x":1})"}, bytes), caf::none);
  gauge::holds_a_thrower x;
  EXPECT_EQ(code_of(load(x, bytes)), errc::internal);
  EXPECT_EQ(caf::deep_to_string(gauge::holds_a_thrower{}), "<no luck>");
}

TEST(inspection, printing_shows_the_json) {
  const gauge::reading x{"attic", 21.5};
  EXPECT_EQ(caf::deep_to_string(x),
            R"({"sensorName":"attic","value":21.5,"parts":[]})");
  EXPECT_EQ(caf::deep_to_string(std::vector<local>{{1}, {2}}),
            R"([{"x":1}, {"x":2}])");
  EXPECT_EQ(caf::deep_to_string(gauge::reading{"x", std::nan("")}),
            "<$.value: expected a finite number, found NaN>");
  EXPECT_EQ(caf::to_string(caf::make_message(x)), '(' + to_json_text(x) + ')');
}

TEST(inspection, an_inspect_of_the_user_wins) {
  gauge::own x;
  x.x = 1;
  x.y = 2;
  EXPECT_EQ(caf::deep_to_string(x), "own(1)");
  EXPECT_EQ(round_trip(x).y, 0);
}

TEST(inspection, a_struct_that_is_not_described_is_left_alone) {
  struct undescribed {};
  static_assert(
    !caf::detail::is_inspectable<caf::serializer, undescribed>::value);
  static_assert(caf::detail::is_inspectable<caf::serializer, local>::value);
  static_assert(
    !caf::detail::is_inspectable<caf::serializer, const local>::value);
  EXPECT_EQ(caf::deep_to_string(undescribed{}), "<unprintable>");
}

struct config : caf::actor_system_config {
  config() {
    set("scheduler.max-threads", 1);
    add_message_types<caf::id_block::inspection_test>();
  }
};

TEST(inspection, a_message_with_described_structs_survives_the_wire) {
  config cfg;
  caf::actor_system sys{cfg};
  gauge::reading x{"attic", -0.0};
  const std::vector<gauge::reading> xs{x, x};
  const auto sent = caf::make_message(x, xs, std::string{"end"});
  std::vector<char> bytes;
  caf::binary_serializer sink{sys, bytes};
  ASSERT_EQ(sent.save(sink), caf::none);
  caf::message received;
  caf::binary_deserializer source{sys, bytes};
  ASSERT_EQ(received.load(source), caf::none);
  ASSERT_TRUE(
    (received.match_elements<gauge::reading, std::vector<gauge::reading>,
                             std::string>()));
  EXPECT_EQ(received.get_as<gauge::reading>(0), x);
  EXPECT_TRUE(std::signbit(received.get_as<gauge::reading>(0).value));
  EXPECT_EQ(received.get_as<std::vector<gauge::reading>>(1), xs);
  EXPECT_EQ(received.get_as<std::string>(2), "end");
}

TEST(inspection, a_message_refuses_what_is_no_number) {
  config cfg;
  caf::actor_system sys{cfg};
  const auto sent = caf::make_message(gauge::reading{"x", std::nan("")});
  std::vector<char> bytes;
  caf::binary_serializer sink{sys, bytes};
  // sink(sent) would drop the error: CAF 0.17 ignores errors of elements there
  EXPECT_EQ(code_of(sent.save(sink)), errc::invalid_argument);
}

} // namespace

} // namespace tertulia::test::inspection_tests
