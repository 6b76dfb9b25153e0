// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "words.hpp"

namespace tertulia::offline {

/// Answers to sentences of a certain form.
struct rule {
  /// If several rules match, the one with the highest rank is used.
  int rank;

  /// Words in lower case; one `*` among them stands for any words.
  std::string_view pattern;

  /// A `%` is replaced by the words for the `*`, with the pronouns swapped. An
  /// answer with a `%` is skipped if there are no such words.
  std::span<const std::string_view> answers;
};

/// Result of matching a sentence.
struct matched_rule {
  /// Null if no rule matches.
  const rule* target = nullptr;
  /// Words that the `*` stands for, as written.
  std::string said;
  /// `said` with the pronouns swapped.
  std::string reflected;
};

/// Returns the rule for a sentence.
matched_rule match(const sentence& words);

/// Returns the answers for sentences that match no rule.
std::span<const std::string_view> fallbacks();

} // namespace tertulia::offline
