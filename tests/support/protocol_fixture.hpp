// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/describe.hpp>
#include <tertulia/open.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/turn.hpp>

#include <caf/all.hpp>

#include <string>
#include <vector>

#include "support/threaded.hpp"
#include <gtest/gtest.h>

// Messages in tests of the protocol, and their serialization.

namespace tertulia::test::protocol_tests {

struct article {
  std::string name;
  int pieces = 0;

  friend bool operator==(const article&, const article&) = default;
};
BOOST_DESCRIBE_STRUCT(article, (), (name, pieces))

struct label {
  std::string name;

  friend bool operator==(const label&, const label&) = default;
};
BOOST_DESCRIBE_STRUCT(label, (), (name))

struct protocol : threaded {
  protocol() {
    sink = system.spawn<caf::hidden>([]() -> chunk_sink::behavior_type {
      return {[](chunk_batch&) {}, [](input_credit) {}, [](turn_end) {},
              [](completion&) {}};
    });
    connection
      = system.spawn<caf::hidden>([]() -> connection_actor::behavior_type {
          return {[](turn_input&) {}, [](chunk_credit) {},
                  [](caf::close_atom) {}, [](cancel_atom) {}};
        });
    holder = system.spawn<caf::hidden>([]() -> lease_holder::behavior_type {
      return {[](cancel_atom, const caf::error&) {}};
    });
  }

  ~protocol() override {
    caf::anon_send_exit(holder, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(sink, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(connection, caf::exit_reason::user_shutdown);
  }

  template <class T>
  std::vector<char> save(const T& x) {
    std::vector<char> result;
    caf::binary_serializer to{system, result};
    EXPECT_FALSE(to(x));
    return result;
  }

  template <class T>
  T load(const std::vector<char>& bytes) {
    T result;
    caf::binary_deserializer from{system, bytes};
    EXPECT_FALSE(from(result));
    EXPECT_EQ(from.remaining(), 0u);
    return result;
  }

  template <class T>
  void check_round_trip(const T& x) {
    EXPECT_EQ(load<T>(save(x)), x) << caf::deep_to_string(x);
    const caf::message message
      = load<caf::message>(save(caf::make_message(x, 17, x)));
    ASSERT_TRUE((message.match_elements<T, int, T>()))
      << caf::deep_to_string(x);
    EXPECT_EQ(message.get_as<T>(0), x);
    EXPECT_EQ(message.get_as<T>(2), x);
  }

  chunk_sink sink;
  connection_actor connection;
  lease_holder holder;
};

} // namespace tertulia::test::protocol_tests
