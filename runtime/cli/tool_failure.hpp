// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/status.hpp>

#include <exception>
#include <filesystem>
#include <string>

#include "exit_code.hpp"

namespace tertulia::tool {

/// Reason why a command ends, with advice for the user.
///
/// @threads a value.
class failure : public std::exception {
public:
  /// @param advice a sentence; empty without advice.
  failure(exit_code code, status_error failure, std::string advice = {});

  /// Wraps an error of a store or a file; derives the exit code from its code.
  explicit failure(status_error failure, std::string advice = {});

  [[nodiscard]] const char* what() const noexcept override {
    return cause_.what();
  }

  [[nodiscard]] exit_code code() const noexcept {
    return code_;
  }

  [[nodiscard]] const status_error& why() const noexcept {
    return cause_;
  }

  [[nodiscard]] const std::string& advice() const noexcept {
    return advice_;
  }

private:
  exit_code code_;
  status_error cause_;
  std::string advice_;
};

/// Throws a failure for an invalid command line.
[[noreturn]] void reject_usage(const std::string& message,
                               std::string advice = {});

/// Throws a failure for a system error of a file.
/// @param error an `errno` value.
[[noreturn]] void reject_file(const std::filesystem::path& file, int error);

/// Converts the exception that is being handled.
/// @pre called inside a `catch` block.
[[nodiscard]] failure current_failure();

/// Writes the failure on standard error: a sentence and the advice, or one JSON
/// document
/// `{"error":{"code":…,"message":…,"details":…,"advice":…,"exitCode":…}}`.
void report(const failure& x, bool as_json);

/// Writes the unhandled exception that ends the process, in the format of
/// `report`. Works even if memory is exhausted. For `std::terminate`.
/// @pre an exception is being handled.
void report_unhandled(bool as_json) noexcept;

/// Writes a remark for people on standard error.
void remark(const std::string& text);

} // namespace tertulia::tool
