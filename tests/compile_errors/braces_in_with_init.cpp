// SPDX-License-Identifier: BSD-3-Clause
// only: g++ before 13
// expect: destroys such a temporary of a co_await twice: give the option a name

#include <tertulia/bidi_action.hpp>

struct settings {
  std::string prompt;
  double temperature = 0;
};

BOOST_DESCRIBE_STRUCT(settings, (), (prompt, temperature))

using chat = tertulia::bidi_action<settings, int, int, int>;

tertulia::task<> ask(tertulia::context ctx, chat what, std::string prompt) {
  auto talk
    = co_await what.open(ctx, tertulia::with_init(settings{prompt, 0.7}));
  talk.close();
}
