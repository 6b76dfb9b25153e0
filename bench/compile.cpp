// SPDX-License-Identifier: BSD-3-Clause

// Measures what the headers cost who uses them: the CPU time in which the
// compiler of this build compiles one source without optimization. Baseline:
// two headers of CAF.

#include <cerrno>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "row.hpp"
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tertulia::bench {

namespace {

double seconds_of(const timeval& x) {
  return static_cast<double>(x.tv_sec) + static_cast<double>(x.tv_usec) / 1e6;
}

/// Compiles one source and returns the CPU time of the compiler in seconds.
double compile(const std::string& source) {
  std::vector<std::string> words{TERTULIA_COMPILER,
                                 "-std=c++20",
                                 "-O0",
                                 "@" TERTULIA_COMPILE_INCLUDES,
                                 "-c",
                                 TERTULIA_SOURCE_DIR "/" + source,
                                 "-o",
                                 "/dev/null"};
  std::vector<char*> arguments;
  for (auto& x : words)
    arguments.push_back(x.data());
  arguments.push_back(nullptr);
  pid_t compiler = 0;
  if (const auto failure = posix_spawnp(&compiler, arguments[0], nullptr,
                                        nullptr, arguments.data(), environ))
    throw std::system_error{failure, std::generic_category(), words[0]};
  int status = 0;
  rusage used{};
  while (wait4(compiler, &status, 0, &used) < 0)
    if (errno != EINTR)
      throw std::system_error{errno, std::generic_category(), "wait4"};
  if (status != 0)
    throw std::runtime_error{"the compiler refused " + source};
  return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

class compile_question final : public question {
public:
  explicit compile_question(const char* source) : source_(source) {}

  double ours(std::size_t operations) override {
    return average(source_, operations);
  }

  double baseline(std::size_t operations) override {
    return average("bench/compile/caf_headers.cpp", operations);
  }

private:
  static double average(const std::string& source, std::size_t operations) {
    double result = 0;
    for (std::size_t i = 0; i < operations; ++i)
      result += compile(source);
    return result / static_cast<double>(operations);
  }

  std::string source_;
};

row compile_row(std::string name, const char* source, double ratio) {
  return {.name = std::move(name),
          .unit = "s",
          .promise = target::at_most_times_baseline(ratio),
          .operations = 1,
          .smoke_operations = 1,
          .samples = 5,
          .make
          = [source] { return std::make_unique<compile_question>(source); }};
}

const enrol row_of_echo{compile_row("compile_echo", "examples/echo.cpp", 1.6)};
const enrol row_of_agent{
  compile_row("compile_agent", "bench/compile/prompt_agent.cpp", 2.5)};

} // namespace

} // namespace tertulia::bench
