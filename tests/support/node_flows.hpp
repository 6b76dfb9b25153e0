// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/describe.hpp>
#include <tertulia/runtime.hpp>

#include <limits>
#include <string>

// Flows that one process offers and another process uses.

namespace tertulia::test {

struct greeting {
  std::string word;
  double warmth = 0;

  friend bool operator==(const greeting&, const greeting&) = default;
};

BOOST_DESCRIBE_STRUCT(greeting, (), (word, warmth))

/// Sends each greeting back, twice as warm; the init data is a prefix.
inline task<int> greet(context, std::string prefix, input<greeting> in,
                       output<greeting> out) {
  int count = 0;
  while (auto x = co_await in.next()) {
    ++count;
    co_await out.send(prefix + x->word, x->warmth * 2);
    co_await out.end_turn();
  }
  co_return count;
}

/// Sends, for each input, the numbers from 0 up to, but excluding, the input.
inline task<int> count_up(context, input<int> in, output<int> out) {
  while (auto to = co_await in.next())
    for (int i = 0; i < *to; ++i)
      co_await out.send(i);
  co_return 0;
}

/// Sends a number, then a number that JSON cannot express.
inline task<int> go_mad(context, input<int> in, output<double> out) {
  co_await out.send(1.5);
  co_await out.end_turn();
  co_await in.next();
  co_await out.send(std::numeric_limits<double>::quiet_NaN());
  co_await in.next();
  co_return 0;
}

inline void define_node_flows(runtime& rt) {
  rt.define_bidi_flow("greet", greet);
  rt.define_bidi_flow("countUp", count_up);
  rt.define_bidi_flow("goMad", go_mad);
}

using remote_greet = bidi_action<std::string, greeting, int, greeting>;

} // namespace tertulia::test
