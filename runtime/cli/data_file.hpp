// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <filesystem>
#include <string>

namespace tertulia::tool {

/// Returns the default path of a file of this program: in
/// `$XDG_DATA_HOME/tertulia`, or ` /.local/share/tertulia`. Creates the folder
/// if it does not exist, accessible to its user only.
/// @errors throws a failure if neither variable is set or the folder cannot be
///         created.
[[nodiscard]] std::filesystem::path data_file(const std::string& name);

} // namespace tertulia::tool
