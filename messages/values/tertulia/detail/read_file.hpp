// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/errc.hpp>

#include <string>

namespace tertulia::detail {

/// Returns the code of an error with a file: `not_found`, `permission_denied`,
/// `failed_precondition` for a folder, `resource_exhausted` without room or
/// descriptors, and else `unavailable`.
/// @param error an `errno`.
[[nodiscard]] errc code_of_file_error(int error) noexcept;

/// Returns all bytes of a file.
///
/// @errors  throws an error of `code_of_file_error` if the file cannot be read.
///          The text begins with the name of the file.
/// @threads any.
[[nodiscard]] std::string read_file(const std::string& name);

} // namespace tertulia::detail
