// SPDX-License-Identifier: BSD-3-Clause

#include "file_output.hpp"

#include <tertulia/status.hpp>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "tool_failure.hpp"
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace tertulia::tool {

namespace {

[[noreturn]] void reject_existing(const std::filesystem::path& file) {
  throw failure{status_error{errc::already_exists,
                             fmt::format("{} already exists", file.string())},
                "Add --force to replace it."};
}

std::filesystem::path make_file_beside(const std::filesystem::path& file,
                                       int& handle) {
  auto name = file.string() + ".part-XXXXXX";
  handle = ::mkostemp(name.data(), O_CLOEXEC);
  if (handle < 0)
    reject_file(file, errno);
  return name;
}

std::filesystem::path checked(std::filesystem::path file,
                              existing_file existing) {
  std::error_code ignored;
  const auto kind = std::filesystem::symlink_status(file, ignored).type();
  if (kind == std::filesystem::file_type::not_found)
    return file;
  if (kind != std::filesystem::file_type::regular
      && kind != std::filesystem::file_type::none)
    reject_usage(fmt::format("{} is not a regular file", file.string()),
                 "Leave --output out and redirect standard output instead.");
  if (existing == existing_file::is_kept)
    reject_existing(file);
  return file;
}

} // namespace

file_output::file_output(std::filesystem::path file, existing_file existing)
  : file_(checked(std::move(file), existing)), existing_(existing),
    aside_(make_file_beside(file_, handle_)),
    remove_([this] { ::unlink(aside_.c_str()); }), stream_(aside_) {}

file_output::~file_output() {
  if (handle_ < 0)
    return;
  ::close(handle_);
  ::unlink(aside_.c_str());
}

void file_output::put_in_place() {
  stream_.close();
  if (!stream_ || ::fsync(handle_) != 0)
    reject_file(file_, errno);
  if (existing_ == existing_file::is_replaced) {
    if (::rename(aside_.c_str(), file_.c_str()) != 0)
      reject_file(file_, errno);
  } else if (::renameat2(AT_FDCWD, aside_.c_str(), AT_FDCWD, file_.c_str(),
                         RENAME_NOREPLACE)
             != 0) {
    if (errno == EEXIST) // created in the meantime
      reject_existing(file_);
    // Some file systems do not support the flag; the check before must do.
    if (errno != EINVAL || ::rename(aside_.c_str(), file_.c_str()) != 0)
      reject_file(file_, errno);
  }
  ::close(std::exchange(handle_, -1));
}

} // namespace tertulia::tool
