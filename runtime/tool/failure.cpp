// SPDX-License-Identifier: BSD-3-Clause

#include "failure.hpp"

#include <tertulia/errc.hpp>
#include <tertulia/json.hpp>

#include <utility>

#include "documents.hpp"
#include "text.hpp"
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

/// Nobody can be told if this fails.
void write_error(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto n = ::write(STDERR_FILENO, text.data() + at, text.size() - at);
    if (n <= 0)
      return;
    at += static_cast<std::size_t>(n);
  }
}

} // namespace

failure::failure(exit_code code, status_error why, std::string advice)
  // NOLINTNEXTLINE(bugprone-throw-keyword-missing): it is a member
  : code_(code), why_(std::move(why)), advice_(std::move(advice)) {}

failure::failure(status_error why, std::string advice)
  : failure(code_for(why.code()), why, std::move(advice)) {}

void reject_usage(const std::string& message, std::string advice) {
  throw failure{exit_code::usage, status_error{errc::invalid_argument, message},
                std::move(advice)};
}

failure current_failure() {
  try {
    throw;
  } catch (const failure& x) {
    return x;
  } catch (const status_error& x) {
    return failure{x};
  } catch (...) {
    return failure{to_status(current_exception_to_error())};
  }
}

void report(const failure& x, bool as_json) {
  if (!as_json) {
    auto text = "tertulia: " + one_line(x.why().message()) + '\n';
    if (!x.advice().empty())
      text += shown_lines(x.advice()) + '\n';
    write_error(text);
    return;
  }
  document error;
  error["code"] = to_string(x.why().code());
  error["message"] = x.why().message();
  if (!x.why().details().empty())
    error["details"]
      = document::parse(x.why().details(), nullptr, /*allow_exceptions=*/false);
  if (!x.advice().empty())
    error["advice"] = x.advice();
  error["exitCode"] = static_cast<int>(x.code());
  document all;
  all["error"] = std::move(error);
  write_error(text_of(all) + '\n');
}

void remark(const std::string& text) {
  write_error(shown_lines(text) + '\n');
}

} // namespace tertulia::tool
