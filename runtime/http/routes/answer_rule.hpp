// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>

namespace tertulia::web {

/// Rule for answers to questions of tools: outputs of tools, and their requests
/// again.
///
/// @threads a value.
struct answer_rule {
  bool allows_answers = true;
  /// Whether the client acts for another caller, and may only answer.
  bool allows_only_answers = false;

  /// Checks an input.
  /// @errors throws `permission_denied`.
  void check(const json& input) const;
};

} // namespace tertulia::web
