// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/read_file.hpp>
#include <tertulia/status_error.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <system_error>

#include <fmt/format.h>

namespace tertulia::detail {

namespace {

struct closer {
  void operator()(std::FILE* file) const {
    (void)std::fclose(file);
  }
};

} // namespace

errc code_of_file_error(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return errc::not_found;
    case EACCES:
    case EPERM:
    case EROFS: return errc::permission_denied;
    case EISDIR: return errc::failed_precondition;
    case EFBIG:
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE: return errc::resource_exhausted;
    default: return errc::unavailable;
  }
}

// Not a stream of the standard library: it does not say why a file cannot be
// read, and throws an error of its own for a folder.
std::string read_file(const std::string& name) {
  const auto reject = [&](int error) {
    throw status_error{code_of_file_error(error),
                       fmt::format("{}: {}", name,
                                   std::generic_category().message(error))};
  };
  const std::unique_ptr<std::FILE, closer> file{
    std::fopen(name.c_str(), "rbe")};
  if (!file)
    reject(errno);
  std::string result;
  std::array<char, 4'096> bytes{};
  while (const auto size
         = std::fread(bytes.data(), 1, bytes.size(), file.get()))
    result.append(bytes.data(), size);
  if (std::ferror(file.get()) != 0)
    reject(errno);
  return result;
}

} // namespace tertulia::detail
