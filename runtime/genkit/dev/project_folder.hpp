// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>

namespace tertulia::web {

/// Returns the folder in which Genkit's command line looks for programs: the
/// nearest one from the working directory upwards that has one of the files of
/// its languages, or the working directory.
[[nodiscard]] std::string project_folder();

} // namespace tertulia::web
