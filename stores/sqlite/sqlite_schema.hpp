// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <span>

#include "sqlite_db.hpp"

namespace tertulia {

/// Step from one version of the format to the next.
struct migration_step {
  const char* before;          ///< statements
  void (*convert)(sqlite_db&); ///< what statements cannot do; may be null
  const char* after;           ///< statements
};

/// Returns the migration steps, which bring a file from one version to the
/// next. The first step creates version 1 in an empty file.
/// Published steps are never changed; new ones are appended.
[[nodiscard]] std::span<const migration_step> sqlite_schema();

} // namespace tertulia
