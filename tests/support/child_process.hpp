// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace tertulia::test {

/// One of the programs under tests/process, with its output on a pipe. It is
/// killed with `kill -9` at the latest when this object goes out of scope.
class child_process {
public:
  child_process(const std::string& name, std::vector<std::string> arguments) {
    int ends[2];
    if (::pipe(ends) != 0)
      throw std::runtime_error{"no pipe"};
    auto path = std::string{TERTULIA_TEST_BIN_DIR} + '/' + name;
    std::vector<char*> argv{path.data()};
    for (auto& x : arguments)
      argv.push_back(x.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      ::execv(path.c_str(), argv.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ::fdopen(ends[0], "r");
  }

  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  ~child_process() {
    kill();
    std::fclose(output_);
  }

  /// Waits for the next line that the program prints; empty at its end.
  std::string read_line() {
    std::string line;
    for (int c = std::fgetc(output_); c != EOF && c != '\n';
         c = std::fgetc(output_))
      line += static_cast<char>(c);
    return line;
  }

  [[nodiscard]] pid_t id() const noexcept {
    return pid_;
  }

  /// Kills the program with `kill -9`, and waits until it has ended.
  void kill() {
    if (pid_ <= 0)
      return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

private:
  pid_t pid_ = -1;
  std::FILE* output_ = nullptr;
};

} // namespace tertulia::test
