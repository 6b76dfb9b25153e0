// SPDX-License-Identifier: BSD-3-Clause

#include "file_hold.hpp"

#include <tertulia/json.hpp>
#include <tertulia/status.hpp>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tertulia {

namespace {

[[noreturn]] void reject(errc code, const std::string& file,
                         const std::string& why) {
  throw status_error{code, file + ": " + why,
                     json::object({{"file", file}})
                       .dump(-1, ' ', false, json::error_handler_t::replace)};
}

[[noreturn]] void reject(const std::string& file, int error) {
  auto code = errc::unavailable;
  switch (error) {
    case ENOENT:
    case ENOTDIR: code = errc::not_found; break;
    case EACCES:
    case EPERM:
    case EROFS: code = errc::permission_denied; break;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE: code = errc::resource_exhausted; break;
    default: break;
  }
  reject(code, file, std::system_category().message(error));
}

constexpr mode_t owner_only = S_IRUSR | S_IWUSR;

} // namespace

file_hold::file_hold(const std::string& file, caf::timespan patience) {
  const auto lock = file + "-lock";
  const auto deadline = std::chrono::steady_clock::now() + patience;
  handle_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, owner_only);
  if (handle_ < 0)
    reject(lock, errno);
  // The kernel knows no wait with an end, and nobody waits here but at a start.
  constexpr std::chrono::milliseconds pause{5};
  while (::flock(handle_, LOCK_EX | LOCK_NB) != 0) {
    const auto error = errno;
    if (error == EINTR)
      continue;
    if (error == EWOULDBLOCK && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(pause);
      continue;
    }
    ::close(handle_);
    if (error == EWOULDBLOCK)
      reject(errc::unavailable, file,
             "is in use by another store, of this process or another one");
    reject(lock, error);
  }
}

file_hold::~file_hold() {
  ::close(handle_);
}

void make_private_file(const std::string& file) {
  const auto handle
    = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, owner_only);
  if (handle >= 0)
    ::close(handle);
  else if (errno != EEXIST)
    reject(file, errno);
}

} // namespace tertulia
