// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>

namespace tertulia::detail {

/// Returns all bytes of a file.
///
/// @errors  throws `not_found` if the file cannot be read, or
///          `permission_denied` if this process may not. The text begins with
///          the name of the file.
/// @threads any.
[[nodiscard]] std::string read_file(const std::string& name);

} // namespace tertulia::detail
