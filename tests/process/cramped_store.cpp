// SPDX-License-Identifier: BSD-3-Clause

// Opens a store in a file while the process lacks a usual resource, and prints
// the results:
//
//   descriptors FILE   standard input, output and error are closed
//   size FILE          files cannot become large

#include <tertulia/config.hpp>
#include <tertulia/sqlite_store.hpp>
#include <tertulia/status.hpp>

#include <caf/all.hpp>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include "support/child_program.hpp"
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tertulia::test::cramped_store_process {

namespace {

class user {
public:
  explicit user(const std::string& file)
    : store_(spawn_sqlite_store(system_, file)) {}

  user(const user&) = delete;
  user& operator=(const user&) = delete;

  ~user() {
    self_->send_exit(store_, caf::exit_reason::user_shutdown);
    self_->wait_for(store_);
  }

  errc save(const std::string& session, std::size_t size) {
    auto result = errc::ok;
    self_
      ->request(
        store_, std::chrono::minutes{1},
        save_session_request{{"/agent/a", session_id{session}},
                             state::plain(payload::of(std::string(size, 'x'))),
                             0})
      .receive([](const session_info&) {},
               [&](const caf::error& x) { result = code_of(x); });
    return result;
  }

private:
  config cfg_;
  caf::actor_system system_{cfg_};
  caf::scoped_actor self_{system_};
  managed_store store_;
};

void print(int to, const std::string& text) {
  if (::write(to, text.data(), text.size()) < 0)
    ::_exit(1);
}

void without_descriptors(const std::string& file) {
  const auto out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
  for (const int x : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::close(x);
  user one{file};
  one.save("s", 10);
  for (const int x : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    std::error_code error;
    const auto name = std::filesystem::read_symlink(
      "/proc/self/fd/" + std::to_string(x), error);
    print(out, std::to_string(x) + ": "
                 + (error ? error.message() : name.string()) + '\n');
  }
}

void limit_size(rlim_t bytes) {
  rlimit x{};
  ::getrlimit(RLIMIT_FSIZE, &x);
  x.rlim_cur = bytes;
  ::setrlimit(RLIMIT_FSIZE, &x);
}

void with_small_files(const std::string& file) {
  limit_size(10'000);
  try {
    const user one{file};
  } catch (const status_error& x) {
    print(STDOUT_FILENO, "opening: " + std::string{to_string(x.code())} + '\n');
  }
  limit_size(1'000'000);
  user one{file};
  print(STDOUT_FILENO, "opened\n");
  print(STDOUT_FILENO,
        "saving: " + std::string{to_string(one.save("large", 2'000'000))}
          + '\n');
  limit_size(RLIM_INFINITY);
  if (one.save("large", 2'000'000) == errc::ok)
    print(STDOUT_FILENO, "saved\n");
  struct sigaction now {};
  sigset_t blocked;
  ::sigaction(SIGXFSZ, nullptr, &now);
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  if (now.sa_handler == SIG_DFL && sigismember(&blocked, SIGXFSZ) == 0)
    print(STDOUT_FILENO, "signal: as before\n");
}

void run(int, char** argv) {
  if (std::string{argv[1]} == "descriptors")
    without_descriptors(argv[2]);
  else
    with_small_files(argv[2]);
}

const child_program program{"cramped_store", run};

} // namespace

} // namespace tertulia::test::cramped_store_process
