// SPDX-License-Identifier: BSD-3-Clause

#include "tool_failure.hpp"

#include <tertulia/errc.hpp>
#include <tertulia/json.hpp>

#include <cerrno>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "output/descriptors.hpp"
#include "output/documents.hpp"
#include "output/shown_text.hpp"
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

namespace tertulia::tool {

namespace {

exit_code code_for(errc x) {
  switch (x) {
    case errc::ok: return exit_code::fine;
    case errc::invalid_argument: return exit_code::usage;
    case errc::not_found: return exit_code::not_found;
    case errc::data_loss: return exit_code::damaged;
    default: return exit_code::failed;
  }
}

constexpr const char* no_memory = "there is no memory left";

errc code_of_errno(int x) {
  switch (x) {
    case ENOENT:
    case ENOTDIR: return errc::not_found;
    case EEXIST: return errc::already_exists;
    case EACCES:
    case EPERM:
    case EROFS: return errc::permission_denied;
    case EFBIG:
    case ENOSPC:
    case EDQUOT: return errc::resource_exhausted;
    default: return errc::unavailable;
  }
}

/// Ignores errors, because there is no other place to report them.
void write_error(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto n = ::write(STDERR_FILENO, text.data() + at, text.size() - at);
    if (n > 0)
      at += static_cast<std::size_t>(n);
    else if (n == 0 || errno != EAGAIN || !wait_until(STDERR_FILENO, POLLOUT))
      return;
  }
}

} // namespace

failure::failure(exit_code code, status_error failure, std::string advice)
  // NOLINTNEXTLINE(bugprone-throw-keyword-missing): it is a member
  : code_(code), cause_(std::move(failure)), advice_(std::move(advice)) {}

failure::failure(status_error reason, std::string advice)
  : failure(code_for(reason.code()), reason, std::move(advice)) {}

void reject_usage(const std::string& message, std::string advice) {
  throw failure{exit_code::usage, status_error{errc::invalid_argument, message},
                std::move(advice)};
}

void reject_file(const std::filesystem::path& file, int error) {
  throw failure{status_error{
    code_of_errno(error), fmt::format("{}: {}", file.string(),
                                      std::system_category().message(error))}};
}

failure current_failure() {
  try {
    throw;
  } catch (const failure& x) {
    return x;
  } catch (const status_error& x) {
    return failure{x};
  } catch (const std::bad_alloc&) {
    return failure{status_error{errc::resource_exhausted, no_memory}};
  } catch (...) {
    return failure{to_status(current_exception_to_error())};
  }
}

void report(const failure& x, bool as_json) {
  if (!as_json) {
    auto text = fmt::format("tertulia: {}\n", one_line(x.why().message()));
    if (!x.advice().empty())
      text += fmt::format("{}\n", shown_lines(x.advice()));
    write_error(text);
    return;
  }
  document error;
  error["code"] = to_string(x.why().code());
  error["message"] = x.why().message();
  if (!x.why().details().empty())
    error["details"] = document_in(x.why().details());
  if (!x.advice().empty())
    error["advice"] = x.advice();
  error["exitCode"] = static_cast<int>(x.code());
  document all;
  all["error"] = std::move(error);
  write_error(text_of(all) + '\n');
}

void report_unhandled(bool as_json) noexcept {
  try {
    try {
      throw;
    } catch (...) {
      report(current_failure(), as_json);
    }
  } catch (...) {
    const auto text = {"tertulia: ", no_memory, "\n"};
    for (const std::string_view x : text)
      write_error(x);
  }
}

void remark(const std::string& text) {
  write_error(fmt::format("{}\n", shown_lines(text)));
}

} // namespace tertulia::tool
