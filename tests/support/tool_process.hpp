// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "support/has.hpp"
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tertulia::test {

using strings = std::vector<std::string>;

/// Output of a process, and its exit code.
struct tool_result {
  /// Returns whether the process ended with this code, and whether its errors
  /// contain all of these parts.
  template <class... Parts>
  [[nodiscard]] ::testing::AssertionResult
  failed(int expected, const Parts&... parts) const {
    if (code != expected)
      return ::testing::AssertionFailure()
             << "it ended with " << code << " and said:\n"
             << err;
    return has(err, parts...);
  }

  /// Exit code; 128 plus the signal if a signal has killed the process.
  int code = -1;
  std::string out;
  std::string err;
};

/// Run of the command line, or of any program, in an environment of its own.
/// The process is killed with `kill -9` at the latest when this object goes out
/// of scope.
class tool_process {
public:
  struct pipes {};

  struct terminal {
    explicit terminal(unsigned short columns) : columns(columns) {}

    unsigned short columns;
  };

  /// Starts the process with its input, output and errors on pipes.
  tool_process(pipes, strings command, const std::string& input = {}) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    std::array<int, 2> err{};
    for (auto* ends : {&in, &out, &err})
      if (::pipe2(ends->data(), O_CLOEXEC) != 0)
        throw std::runtime_error{"no pipe"};
    out_ = out[0];
    err_ = err[0];
    files at_start;
    ::posix_spawn_file_actions_adddup2(&at_start.actions, in[0], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&at_start.actions, out[1],
                                       STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&at_start.actions, err[1],
                                       STDERR_FILENO);
    start(std::move(command), at_start);
    for (const int end : {in[0], out[1], err[1]})
      ::close(end);
    // The input is small enough to fit into a pipe at once, even if the process
    // does not read it.
    struct sigaction ignore {};
    struct sigaction before {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &before);
    if (::write(in[1], input.data(), input.size()) < 0 && errno != EPIPE)
      throw std::runtime_error{"no input"};
    ::sigaction(SIGPIPE, &before, nullptr);
    ::close(in[1]);
  }

  /// Starts the process with its input, output and errors on a terminal.
  tool_process(terminal size, strings command) {
    winsize window{};
    window.ws_col = size.columns;
    window.ws_row = 24;
    int inner = -1;
    std::array<char, PATH_MAX> name{};
    if (::openpty(&out_, &inner, name.data(), nullptr, &window) != 0)
      throw std::runtime_error{"no terminal"};
    for (const int end : {out_, inner})
      ::fcntl(end, F_SETFD, FD_CLOEXEC);
    // What a session opens first becomes its terminal.
    files at_start;
    ::posix_spawn_file_actions_addopen(&at_start.actions, STDIN_FILENO,
                                       name.data(), O_RDWR, 0);
    for (const int end : {STDOUT_FILENO, STDERR_FILENO})
      ::posix_spawn_file_actions_adddup2(&at_start.actions, STDIN_FILENO, end);
    start(std::move(command), at_start, POSIX_SPAWN_SETSID);
    ::close(inner);
  }

  tool_process(const tool_process&) = delete;
  tool_process& operator=(const tool_process&) = delete;

  ~tool_process() {
    kill();
    for (const int end : {out_, err_})
      if (end >= 0)
        ::close(end);
  }

  [[nodiscard]] pid_t id() const noexcept {
    return pid_;
  }

  /// Kills the process with `kill -9`, and waits until it has ended.
  void kill() {
    if (pid_ <= 0)
      return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  }

  void send(int signal) const {
    ::kill(pid_, signal);
  }

  /// Stops the process with SIGSTOP, and waits until all of its threads have
  /// stopped.
  void freeze() const {
    send(SIGSTOP);
    ::waitpid(pid_, nullptr, WUNTRACED);
  }

  /// Closes the reading end of its output.
  void close_output() {
    ::close(std::exchange(out_, -1));
  }

  void type(const std::string& text) const {
    if (::write(out_, text.data(), text.size()) < 0)
      throw std::runtime_error{"no terminal"};
  }

  /// Reads the output until it contains a text. Fails if the process has ended
  /// or a minute has passed, and then shows the output so far.
  ::testing::AssertionResult read_until(const std::string& text) {
    using namespace std::chrono;
    const auto limit = steady_clock::now() + minutes{1};
    const auto failure = [&](const char* reason) {
      return ::testing::AssertionFailure()
             << reason << " before it said \"" << text << "\"; it said:\n"
             << result_.out;
    };
    while (result_.out.find(text) == std::string::npos) {
      if (out_ < 0)
        return failure("it has ended");
      const auto left = ceil<milliseconds>(limit - steady_clock::now()).count();
      if (left <= 0)
        return failure("a minute has passed");
      pollfd end{out_, POLLIN, 0};
      const auto ready = ::poll(&end, 1, static_cast<int>(left));
      if (ready > 0)
        read(out_, result_.out);
    }
    return ::testing::AssertionSuccess();
  }

  /// Reads the next line of the output; empty at its end.
  std::string read_line() {
    while (result_.out.find('\n') == std::string::npos && out_ >= 0)
      read(out_, result_.out);
    auto line = result_.out.substr(0, result_.out.find('\n'));
    result_.out.erase(0, line.size() + 1);
    return line;
  }

  /// Reads the rest of the output, and waits for the end of the process.
  tool_result wait() {
    while (out_ >= 0 || err_ >= 0) {
      std::array<pollfd, 2> ends{{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
      if (::poll(ends.data(), ends.size(), -1) < 0)
        continue;
      if (ends[0].revents != 0)
        read(out_, result_.out);
      if (ends[1].revents != 0)
        read(err_, result_.err);
    }
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    result_.code
      = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return std::move(result_);
  }

private:
  /// What a process does with files before it runs.
  struct files {
    files() {
      ::posix_spawn_file_actions_init(&actions);
    }

    files(const files&) = delete;
    files& operator=(const files&) = delete;

    ~files() {
      ::posix_spawn_file_actions_destroy(&actions);
    }

    posix_spawn_file_actions_t actions;
  };

  /// Starts the process. A fork would copy the page tables, of which a
  /// sanitizer has many.
  void start(strings command, const files& at_start, int flags = 0) {
    strings environment{"TZ=UTC", "TERM=xterm"};
    for (auto* x = ::environ; *x != nullptr; ++x) {
      const std::string_view known{*x};
      if (!known.starts_with("TERTULIA_STORE=") && !known.starts_with("TZ=")
          && !known.starts_with("TERM="))
        environment.emplace_back(known);
    }
    // A store that has run on this thread has blocked a signal.
    sigset_t none;
    ::sigemptyset(&none);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(
      &attributes, static_cast<short>(flags | POSIX_SPAWN_SETSIGMASK));
    const auto failure
      = ::posix_spawnp(&pid_, command.front().c_str(), &at_start.actions,
                       &attributes, pointers_to(command).data(),
                       pointers_to(environment).data());
    ::posix_spawnattr_destroy(&attributes);
    if (failure != 0)
      throw std::system_error{failure, std::generic_category(),
                              command.front()};
  }

  static std::vector<char*> pointers_to(strings& words) {
    std::vector<char*> result;
    for (auto& x : words)
      result.push_back(x.data());
    result.push_back(nullptr);
    return result;
  }

  /// Reads once. Closes the descriptor at the end of the output, which a
  /// terminal reports as an error.
  static void read(int& from, std::string& to) {
    std::array<char, 4096> buffer{};
    const auto n = ::read(from, buffer.data(), buffer.size());
    if (n > 0)
      to.append(buffer.data(), static_cast<std::size_t>(n));
    else if (n == 0 || errno != EINTR)
      ::close(std::exchange(from, -1));
  }

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  tool_result result_;
};

inline constexpr tool_process::pipes on_pipes{};

/// Runs a command to its end.
inline tool_result run_process(strings command, const std::string& input = {}) {
  return tool_process{on_pipes, std::move(command), input}.wait();
}

/// Returns the words of both lists.
inline strings joined(strings words, const strings& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

inline strings lines_of(const std::string& text) {
  strings result;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    result.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return result;
}

/// Returns the documents in a text, one per line.
inline std::vector<json> documents_in(const std::string& text) {
  std::vector<json> result;
  for (const auto& line : lines_of(text))
    result.push_back(json::parse(line));
  return result;
}

} // namespace tertulia::test
