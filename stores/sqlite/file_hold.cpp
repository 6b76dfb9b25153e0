// SPDX-License-Identifier: BSD-3-Clause

#include "file_hold.hpp"

#include <tertulia/detail/read_file.hpp>
#include <tertulia/status.hpp>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tertulia {

namespace {

file_identity identity_of(const struct stat& x) noexcept {
  return {x.st_dev, x.st_ino};
}

void expect_regular(const std::string& name, const struct stat& x) {
  if (!S_ISREG(x.st_mode))
    reject_file(errc::failed_precondition, name, "is not a regular file");
}

/// File descriptor that is closed at the end, unless it has been released.
class file_descriptor {
public:
  explicit file_descriptor(int x) noexcept : x_(x) {}

  file_descriptor(const file_descriptor&) = delete;
  file_descriptor& operator=(const file_descriptor&) = delete;

  ~file_descriptor() {
    if (x_ >= 0)
      ::close(x_);
  }

  [[nodiscard]] int get() const noexcept {
    return x_;
  }

  [[nodiscard]] int release() noexcept {
    return std::exchange(x_, -1);
  }

private:
  int x_;
};

/// Files that this process holds. SQLite relies on POSIX locks, and a process
/// loses those that it has on a file when it closes any descriptor of the file.
/// So a held file is not opened again. If that happens nevertheless, because
/// the file was renamed at that moment, the spare descriptor stays open as long
/// as the file is held.
struct held_files {
  std::mutex mutex;
  std::map<file_identity, std::vector<int>> spare;
};

/// Returns the held files. They are never destroyed: a store may end after
/// `main`.
held_files& held() {
  static auto* const result = new held_files;
  return *result;
}

void occupy_standard_descriptors() {
  for (auto x = 0; x >= 0 && x <= STDERR_FILENO;) {
    x = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (x > STDERR_FILENO)
      ::close(x);
  }
}

} // namespace

void reject_file(errc code, const std::string& file, const std::string& reason,
                 json details) {
  details["file"] = file;
  throw status_error{code, fmt::format("{}: {}", file, reason),
                     details.dump(-1, ' ', false,
                                  json::error_handler_t::replace)};
}

void reject_file(const std::string& file, int error) {
  reject_file(detail::code_of_file_error(error), file,
              std::system_category().message(error));
}

void expect_regular_file(const std::string& name) {
  struct stat there {};
  if (::stat(name.c_str(), &there) == 0)
    expect_regular(name, there);
  else if (errno != ENOENT)
    reject_file(name, errno);
}

file_hold::file_hold(const std::string& file, caf::timespan patience) {
  occupy_standard_descriptors();
  const auto deadline = std::chrono::steady_clock::now() + patience;
  // `flock` cannot wait with a time-out. Polling is sufficient, since this wait
  // occurs only when a store starts.
  constexpr std::chrono::milliseconds pause{5};
  while (!take(file)) {
    if (std::chrono::steady_clock::now() >= deadline)
      reject_file(errc::unavailable, file,
                  "is in use by another store, of this process or another one",
                  {{"inUse", true}});
    std::this_thread::sleep_for(pause);
  }
}

file_hold::~file_hold() {
  const std::lock_guard guard{held().mutex};
  const auto i = held().spare.find(places_.front().target);
  for (const auto x : i->second)
    ::close(x);
  held().spare.erase(i);
  ::close(handle_);
}

bool file_hold::take(const std::string& file) {
  const std::lock_guard guard{held().mutex};
  auto& spare = held().spare;
  struct stat there {};
  if (::stat(file.c_str(), &there) == 0) {
    expect_regular(file, there);
    if (spare.contains(identity_of(there)))
      return false;
  } else if (errno != ENOENT) {
    reject_file(file, errno);
  }
  // Non-blocking: a pipe may have been put in its place meanwhile.
  file_descriptor handle{
    ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
           S_IRUSR | S_IWUSR)};
  if (handle.get() < 0 || ::fstat(handle.get(), &there) != 0)
    reject_file(file, errno);
  const auto target = identity_of(there);
  if (const auto i = spare.find(target); i != spare.end()) {
    i->second.push_back(handle.release());
    return false;
  }
  expect_regular(file, there);
  if (::flock(handle.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      reject_file(file, errno);
    return false;
  }
  // The previous holder may have put another file in its place.
  const std::unique_ptr<char, decltype(&std::free)> name{
    ::realpath(file.c_str(), nullptr), &std::free};
  if (!name || ::stat(name.get(), &there) != 0 || identity_of(there) != target)
    return false;
  if (there.st_nlink > 1)
    reject_file(
      errc::failed_precondition, file,
      fmt::format("has {} names (hard links), and data that is written under "
                  "one of them is not found under the others: remove all but "
                  "one",
                  there.st_nlink));
  name_ = name.get();
  places_.push_back({name_, target});
  spare.try_emplace(target);
  handle_ = handle.release();
  return true;
}

void file_hold::watch(const std::string& file) {
  struct stat there {};
  if (::stat(file.c_str(), &there) != 0)
    reject_file(file, errno);
  places_.push_back({file, identity_of(there)});
}

void file_hold::expect_in_place() const {
  for (const auto& x : places_) {
    struct stat there {};
    if (::stat(x.name.c_str(), &there) == 0) {
      if (identity_of(there) == x.target)
        continue;
    } else if (errno != ENOENT && errno != ENOTDIR) {
      continue; // access may have been revoked; the file may still be there
    }
    reject_file(errc::data_loss, x.name,
                "was removed or replaced while a store had it open: changes "
                "would be lost");
  }
}

} // namespace tertulia
