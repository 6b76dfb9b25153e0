// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>
#include <vector>

#include "documents.hpp"

namespace tertulia::tool {

/// How one place of a document became that of another.
enum class change_kind { added, removed, changed };

struct change {
  change_kind kind = change_kind::changed;
  /// JSON pointer.
  std::string path;
  /// Null for what was added.
  document before;
  /// Null for what was removed.
  document after;
};

/// Returns what differs, as deep in the documents as it can be told; arrays
/// are compared place by place.
[[nodiscard]] std::vector<change> diff(const document& before,
                                       const document& after,
                                       const std::string& path = {});

} // namespace tertulia::tool
