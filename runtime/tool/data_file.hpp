// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <filesystem>
#include <string>

namespace tertulia::tool {

/// Returns where a file of this program lies when nobody has said: in
/// `$XDG_DATA_HOME/tertulia`, or `~/.local/share/tertulia`. Makes the folder,
/// for its user alone, if it is not there.
/// @errors throws a failure if there is no such place.
[[nodiscard]] std::filesystem::path data_file(const std::string& name);

} // namespace tertulia::tool
