// SPDX-License-Identifier: BSD-3-Clause

// `tertulia` on a system that limits its resources or removes its file.

#include <csignal>
#include <filesystem>
#include <iterator>
#include <string>

#include "support/sanitized.hpp"
#include "support/tool_chat.hpp"
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace tertulia::test::tool_limits_tests {

namespace {

struct tool_limits : a_chat {
  /// Runs the tool under a limit that a shell has set, for at most 30 seconds.
  tool_result run_within(const std::string& limit, strings arguments,
                         const std::string& input = {}) const {
    auto all = command(std::move(arguments));
    all.insert(all.begin(),
               {"sh", "-c", limit + "; exec timeout 30 \"$@\"", "sh"});
    return run_process(all, input);
  }

  /// Returns shell commands for a system with scarce resources; see preload/.
  static std::string preload(const std::string& variable,
                             const std::string& value) {
    return "export " + variable + '=' + value
           + " LD_PRELOAD=" TERTULIA_TEST_BIN_DIR "/scarce_system.so";
  }
};

} // namespace

TEST_F(tool_limits, of_memory_end_in_a_sentence) {
  if (sanitized)
    GTEST_SKIP() << "a sanitizer takes more memory than there is";
  auto refused = 0;
  for (int kilobytes = 30'000; kilobytes < 260'000; kilobytes += 10'000) {
    const auto result = run_within("ulimit -v " + std::to_string(kilobytes),
                                   {"chat", "--quiet"}, "hello\n");
    if (result.code == 0)
      continue;
    if (result.code == 127) // the program could not even be loaded
      continue;
    // The C library and the allocator do not ask the program what it does when
    // they have no memory for themselves.
    if (result.code == 128 + SIGABRT
        && (has(result.err, "Fatal glibc error")
            || has(result.err, "FATAL ERROR: Out of memory")))
      continue;
    ++refused;
    EXPECT_TRUE(result.failed(1, "tertulia: ")) << kilobytes;
  }
  EXPECT_GT(refused, 0);
}

TEST_F(tool_limits, of_threads_end_in_a_sentence) {
  if (sanitized)
    GTEST_SKIP() << "a sanitizer has threads of its own";
  auto refused = 0;
  for (auto threads = 0;; ++threads) {
    const auto result = run_within(preload("THREADS", std::to_string(threads)),
                                   {"chat", "--quiet"}, "hello\n");
    if (result.code == 0)
      break;
    ++refused;
    EXPECT_TRUE(result.failed(1, "tertulia: ")) << threads;
    ASSERT_LT(threads, 100);
  }
  EXPECT_GT(refused, 0);
}

TEST_F(tool_limits, of_the_clock_end_in_a_sentence) {
  if (sanitized)
    GTEST_SKIP() << "a sanitizer wants to be loaded first";
  constexpr auto centuries = "9000000000"; // 285 years, in seconds
  EXPECT_TRUE(
    run_within(preload("LATE_BY", centuries), {"chat", "--quiet"}, "hello\n")
      .failed(1, "Set the clock."));
  const auto soon
    = run_within(preload("LATE_BY", "3600"), {"chat", "--quiet"}, "hello\n");
  EXPECT_EQ(soon.code, 0) << soon.err;
}

TEST_F(tool_limits, of_the_size_of_files_end_in_a_sentence) {
  EXPECT_EQ(answers("hello\n").empty(), false);
  EXPECT_TRUE(run_within("ulimit -f 1", {"chat", "--quiet"}, "hello\n")
                .failed(1, file.string()));
}

TEST_F(tool_limits, of_a_file_that_is_removed_are_told_in_a_chat) {
  tool_process chat{tool_process::terminal{80}, command({"chat"})};
  ASSERT_TRUE(chat.read_until("> "));
  chat.type("hello\r");
  ASSERT_TRUE(chat.read_until("What is on your mind?"));
  for (const auto* suffix : {"", "-wal", "-shm"})
    std::filesystem::remove(file.string() + suffix);
  chat.type("I am tired\r");
  EXPECT_TRUE(chat.read_until("was removed or replaced"));
  chat.type("\x04");
  chat.wait();
}

TEST_F(tool_limits, of_what_is_not_a_store_leave_nothing_beside_it) {
  const auto pipe = folder / "pipe.db";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(run_within(":", {"--store", pipe.string(), "sessions", "list"})
                .failed(1, "is not a regular file"));
  const auto last = std::filesystem::directory_iterator{folder / "."};
  EXPECT_EQ(std::distance(begin(last), end(last)), 1);
}

} // namespace tertulia::test::tool_limits_tests
