// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>

#include <array>
#include <clocale>
#include <cstdint>
#include <cstdio>
#include <cwchar>
#include <string_view>
#include <utility>

#include "interrupts.hpp"
#include "line_reader.hpp"
#include "own_input.hpp"
#include "tool_failure.hpp"
#include <histedit.h>
#include <langinfo.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

namespace tertulia::tool {

namespace {

/// Selects UTF-8 as the encoding of input, whatever the environment contains.
void expect_utf8() {
  std::setlocale(LC_CTYPE, "");
  if (std::string_view{::nl_langinfo(CODESET)} != "UTF-8")
    std::setlocale(LC_CTYPE, "C.UTF-8");
}

/// Initial mode of the terminal, to be restored.
class terminal_mode {
public:
  terminal_mode() : known_(::tcgetattr(STDIN_FILENO, &mode_) == 0) {}

  void restore() const {
    if (known_)
      ::tcsetattr(STDIN_FILENO, TCSANOW, &mode_);
  }

private:
  termios mode_{};
  bool known_;
};

/// Wakes up a thread that waits for a character.
class wake_up {
public:
  wake_up() : fd_(::eventfd(0, EFD_CLOEXEC)) {}

  wake_up(const wake_up&) = delete;
  wake_up& operator=(const wake_up&) = delete;

  ~wake_up() {
    if (fd_ >= 0)
      ::close(fd_);
  }

  [[nodiscard]] int fd() const noexcept {
    return fd_;
  }

  void call() const {
    const std::uint64_t once = 1;
    [[maybe_unused]] const auto n = ::write(fd_, &once, sizeof once);
  }

  void acknowledge() const {
    std::uint64_t times = 0;
    [[maybe_unused]] const auto n = ::read(fd_, &times, sizeof times);
  }

private:
  int fd_;
};

class terminal_line_reader : public line_reader {
public:
  explicit terminal_line_reader(std::string prompt)
    : prompt_(std::move(prompt)),
      // Answers may go into a file; the typed text is visible nevertheless.
      shown_(::isatty(STDOUT_FILENO) == 1 ? stdout : stderr),
      history_(::history_init()),
      edit_(::el_init("tertulia", stdin, shown_, stderr)),
      at_end_([mode = terminal_mode{}] { mode.restore(); }),
      at_ctrl_c_([this](int) {
        wake_.call();
        return true;
      }) {
    if (wake_.fd() < 0 || !edit_ || !history_)
      throw failure{
        status_error{errc::resource_exhausted, "the terminal cannot be read"}};
    constexpr int remembered = 1'000;
    HistEvent event{};
    ::history(history_.get(), &event, H_SETSIZE, remembered);
    ::history(history_.get(), &event, H_SETUNIQUE, 1);
    auto* edit = edit_.get();
    ::el_set(edit, EL_CLIENTDATA, this);
    ::el_set(edit, EL_PROMPT, &terminal_line_reader::prompt_of);
    ::el_set(edit, EL_EDITOR, "emacs");
    ::el_set(edit, EL_HIST, &::history, history_.get());
    ::el_set(edit, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    ::el_source(edit, nullptr); // applies ~/.editrc
    ::el_wset(edit, EL_GETCFN, &terminal_line_reader::character_of);
  }

  line_end next(std::string& line) override {
    reason_ = line_end::end_of_input;
    ::el_resize(edit_.get()); // the window may have changed since
    // Before the prompt, which libedit prints first: a key that is typed after
    // the prompt is a key.
    ::el_set(edit_.get(), EL_PREP_TERM, 1);
    input_.begin_keys();
    int size = 0;
    const char* text = ::el_gets(edit_.get(), &size);
    if (text == nullptr || size <= 0) {
      std::fputc('\n', shown_);
      std::fflush(shown_);
      return reason_;
    }
    line.assign(text, static_cast<std::size_t>(size));
    while (line.ends_with('\n') || line.ends_with('\r'))
      line.pop_back();
    return line_end::typed;
  }

  void remember(const std::string& line) override {
    HistEvent event{};
    ::history(history_.get(), &event, H_ENTER, line.c_str());
  }

private:
  static terminal_line_reader& reader_of(EditLine* x) {
    void* result = nullptr;
    ::el_get(x, EL_CLIENTDATA, &result);
    return *static_cast<terminal_line_reader*>(result);
  }

  static char* prompt_of(EditLine* x) {
    return reader_of(x).prompt_.data();
  }

  static int character_of(EditLine* x, wchar_t* to) {
    return reader_of(x).next_character(*to);
  }

  /// @returns 1 for a character; 0 or less if no character was read.
  int next_character(wchar_t& to) {
    std::mbstate_t state{};
    for (;;) {
      std::array<pollfd, 2> ends{
        {{input_.fd(), POLLIN, 0}, {wake_.fd(), POLLIN, 0}}};
      if (::poll(ends.data(), ends.size(), -1) < 0)
        continue; // EINTR
      if ((ends[1].revents & POLLIN) != 0) {
        wake_.acknowledge();
        reason_ = line_end::interrupted;
        return -1;
      }
      char byte = 0;
      const auto got = input_.read(byte);
      if (got == own_input::outcome::nothing)
        continue;
      if (got == own_input::outcome::over)
        return 0;
      const auto used = std::mbrtowc(&to, &byte, 1, &state);
      if (used == static_cast<std::size_t>(-2))
        continue; // incomplete character
      if (used != static_cast<std::size_t>(-1))
        return 1;
      state = {}; // skips invalid UTF-8
    }
  }

  struct ends_history {
    void operator()(History* x) const noexcept {
      ::history_end(x);
    }
  };

  struct ends_editing {
    void operator()(EditLine* x) const noexcept {
      ::el_end(x);
    }
  };

  std::string prompt_;
  FILE* shown_;
  own_input input_{STDIN_FILENO};
  wake_up wake_;
  std::unique_ptr<History, ends_history> history_;
  std::unique_ptr<EditLine, ends_editing> edit_;
  line_end reason_ = line_end::end_of_input;
  on_interrupt at_end_;
  instead_of_interrupt at_ctrl_c_;
};

} // namespace

std::unique_ptr<line_reader> terminal_reader(std::string prompt) {
  expect_utf8();
  return std::make_unique<terminal_line_reader>(std::move(prompt));
}

} // namespace tertulia::tool
