// SPDX-License-Identifier: BSD-3-Clause

// Terminal input of the prompt of `tertulia chat`: it never waits for keys that
// Ctrl-C has dropped.

#include <future>
#include <stdexcept>
#include <string_view>

#include "runtime/cli/chat/own_input.hpp"
#include "support/threaded.hpp"
#include <poll.h>
#include <pty.h>
#include <termios.h>

namespace tertulia::test::tool_own_input_tests {

namespace {

using outcome = tool::own_input::outcome;

/// Fixture with a terminal that is not read by another process, in the mode of
/// line editing: each key arrives separately, and Ctrl-C drops all unread keys.
class tool_own_input : public ::testing::Test {
protected:
  tool_own_input() {
    if (::openpty(&keyboard_, &terminal, nullptr, nullptr, nullptr) != 0)
      throw std::runtime_error{"no terminal"};
    set_mode(ISIG);
  }

  ~tool_own_input() override {
    hang_up();
    ::close(terminal);
  }

  void set_mode(tcflag_t local) const {
    termios mode{};
    ::tcgetattr(terminal, &mode);
    mode.c_lflag = local;
    ::tcsetattr(terminal, TCSANOW, &mode);
  }

  void type(std::string_view keys) const {
    ASSERT_EQ(::write(keyboard_, keys.data(), keys.size()),
              static_cast<ssize_t>(keys.size()));
  }

  void hang_up() {
    if (keyboard_ >= 0)
      ::close(keyboard_);
    keyboard_ = -1;
  }

  static bool has_news(const tool::own_input& from) {
    pollfd end{from.fd(), POLLIN, 0};
    return ::poll(&end, 1, 0) > 0;
  }

  int terminal = -1;

private:
  int keyboard_ = -1;
};

} // namespace

TEST_F(tool_own_input,
       what_was_dropped_after_the_news_of_it_is_not_waited_for) {
  tool::own_input input{terminal};
  type("x");
  ASSERT_TRUE(eventually([&] { return has_news(input); }));
  type("\x03");
  ASSERT_TRUE(eventually([&] { return !has_news(input); }));
  auto reading = std::async(std::launch::async, [&] {
    char key = 0;
    return input.read(key);
  });
  if (reading.wait_for(patience) != std::future_status::ready)
    type("y"); // so that the test ends
  EXPECT_EQ(reading.get(), outcome::nothing);
}

TEST_F(tool_own_input, what_was_typed_is_read_key_by_key) {
  tool::own_input input{terminal};
  char key = 0;
  EXPECT_EQ(input.read(key), outcome::nothing);
  type("hi");
  ASSERT_TRUE(eventually([&] { return has_news(input); }));
  EXPECT_EQ(input.read(key), outcome::byte);
  EXPECT_EQ(key, 'h');
  EXPECT_EQ(input.read(key), outcome::byte);
  EXPECT_EQ(key, 'i');
  EXPECT_EQ(input.read(key), outcome::nothing);
}

TEST_F(tool_own_input, a_ctrl_d_typed_before_is_one_and_ctrl_space_is_none) {
  set_mode(ICANON | ISIG);
  type("a\x04");
  tool::own_input input{terminal};
  ASSERT_TRUE(eventually([&] { return has_news(input); }));
  set_mode(ISIG);
  input.begin_keys();
  type({"\0", 1});
  char key = 0;
  for (const char expected : {'a', '\x04', '\0'}) {
    ASSERT_TRUE(eventually([&] { return has_news(input); }));
    EXPECT_EQ(input.read(key), outcome::byte);
    EXPECT_EQ(key, expected);
  }
}

TEST_F(tool_own_input, it_is_over_when_the_terminal_has_gone) {
  tool::own_input input{terminal};
  hang_up();
  char key = 0;
  EXPECT_EQ(input.read(key), outcome::over);
}

TEST_F(tool_own_input, whoever_shares_the_terminal_may_wait_as_before) {
  const auto before = ::fcntl(terminal, F_GETFL);
  const tool::own_input input{terminal};
  EXPECT_NE(input.fd(), terminal);
  EXPECT_EQ(::fcntl(terminal, F_GETFL), before);
}

} // namespace tertulia::test::tool_own_input_tests
