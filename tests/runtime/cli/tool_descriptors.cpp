// SPDX-License-Identifier: BSD-3-Clause

// The command line with closed standard descriptors: files that it opens must
// not take their places.

#include <array>
#include <string>
#include <vector>

#include "support/threaded.hpp"
#include "support/tool_chat.hpp"
#include "support/tool_store.hpp"
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tertulia::test::tool_descriptors_tests {

namespace {

/// Runs a command with redirections in a shell.
tool_result run_with(const std::string& redirections, const strings& command,
                     const std::string& input = {}) {
  strings all{"sh", "-c", "exec \"$@\" " + redirections, "sh"};
  all.insert(all.end(), command.begin(), command.end());
  return run_process(all, input);
}

using tool_descriptors = a_tool;
using chat_descriptors = a_chat;

} // namespace

TEST_F(tool_descriptors, what_writes_fails_where_standard_output_is_closed) {
  for (const auto& arguments : std::vector<strings>{
         {"--help"},
         {"--version"},
         {"sessions", "--help"},
         {"agents", "list"},
         {"completion", "bash"},
         {"sessions", "list"},
         {"sessions", "list", "--json"},
         {"sessions", "show", "s2"},
         {"sessions", "fork", "s2", "s3"},
         {"sessions", "export", "s2"},
         {"snapshots", "list", "s2"},
         {"snapshots", "show", "s2@1", "--state"},
         {"snapshots", "diff", "s2", ids[1], "--agent", "/agent/chat"},
         {"snapshots", "prune", "--keep", "1", "--dry-run"},
         {"verify"},
         {"vacuum"}}) {
    EXPECT_TRUE(
      run_with(">&-", on_store(arguments)).failed(1, "standard output: "))
      << arguments.front() << ' ' << arguments.back();
  }
  for (const auto& name : files())
    if (name.ends_with("-lock")) {
      EXPECT_EQ(text_of(file.parent_path() / name), "") << name;
    }
  EXPECT_TRUE(has(output({"verify"}), "nothing is damaged."));
}

TEST_F(tool_descriptors, standard_output_that_is_open_to_read_only_is_none) {
  EXPECT_TRUE(run_with("1</dev/null", on_store({"sessions", "export", "s2"}))
                .failed(1, "standard output: "));
}

TEST_F(tool_descriptors, closed_standard_errors_take_nothing_along) {
  const auto exported = output({"sessions", "export", "s2"});
  const auto result = run_with("2>&-", on_store({"sessions", "export", "s2"}));
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, exported);
  EXPECT_EQ(run_with("2>&-", on_store({"sessions", "show", "s7"})).code, 3);
  EXPECT_EQ(run_with("<&- >&- 2>&-", on_store({"sessions", "list"})).code, 1);
  EXPECT_TRUE(has(output({"verify"}), "nothing is damaged."));
}

TEST_F(tool_descriptors, closed_standard_input_is_at_its_end) {
  const auto result
    = run_with("<&-", on_store({"sessions", "import", "-", "--as", "x"}));
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.code, 0) << "there was no session to read";
  EXPECT_EQ(run({"sessions", "show", "x"}).code, 3);
}

TEST_F(chat_descriptors, closed_standard_input_is_at_its_end) {
  answers("My name is Ada\n");
  const auto result = run_with("<&-", command({"chat", "--quiet"}));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(tree().size(), 1u);
}

TEST_F(chat_descriptors, a_chat_ends_where_nobody_can_read_an_answer) {
  for (const auto* how : {"--quiet", "--json"}) {
    for (const auto* to : {">&-", ">/dev/full"}) {
      const auto result
        = run_with(to, command({"chat", how}), "One\nTwo\nThree\n");
      EXPECT_EQ(result.code, 1);
      EXPECT_EQ(lines_of(result.err).size(), 1u) << "said once: " << result.err;
    }
  }
  EXPECT_LE(tree().size(), 4u) << "one turn of each at most";
}

TEST_F(chat_descriptors, an_input_that_cannot_be_read_is_an_error) {
  for (const auto* from : {"</", "0>/dev/null"}) {
    EXPECT_TRUE(run_with(from, command({"chat", "--quiet"}))
                  .failed(1, "standard input: "))
      << from;
    EXPECT_TRUE(
      run_with(from, command({"agents", "run", "/session-flow/chat", "-"}))
        .failed(1, "standard input: "))
      << from;
  }
}

TEST_F(tool_descriptors, pipes_that_do_not_wait_lose_nothing) {
  // exceeds the capacity of a pipe
  add_session("big", std::string(300'000, 'x'));
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::fcntl(ends[0], F_SETFD, FD_CLOEXEC), 0);
  ASSERT_EQ(::fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  auto command = on_store({"sessions", "export", "big"});
  command.insert(command.begin(),
                 {"bash", "-c", "exec \"$@\" >&" + std::to_string(ends[1]),
                  "bash"});
  tool_process exports{on_pipes, command};
  ::close(ends[1]);
  // Nothing is read before the pipe is full.
  const auto waits = [&] {
    int size = 0;
    return ::ioctl(ends[0], FIONREAD, &size) == 0 && size >= 1 << 16;
  };
  EXPECT_TRUE(eventually(waits));
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  ::close(ends[0]);
  const auto result = exports.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(text, output({"sessions", "export", "big"}));
}

} // namespace tertulia::test::tool_descriptors_tests
