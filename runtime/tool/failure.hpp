// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/status.hpp>

#include <exception>
#include <filesystem>
#include <string>

#include "exit_code.hpp"

namespace tertulia::tool {

/// Why a command ends, and what the user can do next.
///
/// @threads a value.
class failure : public std::exception {
public:
  /// @param advice a sentence; empty if nothing can be done.
  failure(exit_code code, status_error why, std::string advice = {});

  /// What a store or a file has said: the code follows from its code.
  explicit failure(status_error why, std::string advice = {});

  [[nodiscard]] const char* what() const noexcept override {
    return why_.what();
  }

  [[nodiscard]] exit_code code() const noexcept {
    return code_;
  }

  [[nodiscard]] const status_error& why() const noexcept {
    return why_;
  }

  [[nodiscard]] const std::string& advice() const noexcept {
    return advice_;
  }

private:
  exit_code code_;
  status_error why_;
  std::string advice_;
};

/// Throws a failure that is the fault of what was typed.
[[noreturn]] void reject_usage(const std::string& message,
                               std::string advice = {});

/// Throws a failure with what the system says of a file.
/// @param error an `errno`.
[[noreturn]] void reject_file(const std::filesystem::path& file, int error);

/// Translates the exception that is being handled.
/// @pre called inside a `catch` block.
[[nodiscard]] failure current_failure();

/// Writes it on standard error: a sentence and the advice, or one JSON document
/// `{"error":{"code":…,"message":…,"details":…,"advice":…,"exitCode":…}}`.
void report(const failure& x, bool as_json);

/// Writes, in the same way, the exception that ends the process because nobody
/// handles it, also where there is no memory left. For `std::terminate`.
/// @pre there is one.
void report_unhandled(bool as_json) noexcept;

/// Writes a remark for people on standard error.
void remark(const std::string& text);

} // namespace tertulia::tool
