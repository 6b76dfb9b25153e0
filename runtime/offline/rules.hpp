// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "words.hpp"

namespace tertulia::offline {

/// What to answer to a sentence of a certain form.
struct rule {
  /// Of several that match, the one with the highest rank counts.
  int rank;

  /// Words in lower case; one `*` among them stands for any words.
  std::string_view pattern;

  /// A `%` is what the `*` stood for, from the other's view. An answer that has
  /// one is left out if there was nothing.
  std::span<const std::string_view> answers;
};

/// Where a rule matches.
struct matched_rule {
  /// Null if none does.
  const rule* which = nullptr;
  /// What the `*` stood for, as it was written.
  std::string said;
  /// The same from the other's view.
  std::string reflected;
};

/// Returns the rule for a sentence.
matched_rule match(const sentence& words);

/// What to answer if no rule matches.
std::span<const std::string_view> fallbacks();

} // namespace tertulia::offline
