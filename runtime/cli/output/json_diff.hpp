// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>
#include <vector>

#include "documents.hpp"

namespace tertulia::tool {

/// Kind of difference at one path of a document.
enum class change_kind { added, removed, changed };

struct change {
  change_kind kind = change_kind::changed;
  /// JSON pointer.
  std::string path;
  /// Null for an added value.
  document before;
  /// Null for a removed value.
  document after;
};

/// Returns the differences, located as deep in the documents as possible.
/// Arrays are compared element by element, by position.
[[nodiscard]] std::vector<change> diff(const document& before,
                                       const document& after,
                                       const std::string& path = {});

} // namespace tertulia::tool
