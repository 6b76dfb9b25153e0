// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/descriptor.hpp>
#include <tertulia/json.hpp>

#include <string>
#include <vector>

namespace tertulia::web {

/// Returns the key of an action for Genkit's tools. Of two actions that would
/// have the same key there, the later one keeps its own.
[[nodiscard]] std::string their_key(const std::string& own);

/// Returns the keys that an action of this key may have here.
[[nodiscard]] std::vector<std::string> own_keys(const std::string& theirs);

/// Returns what the tools show of an action.
/// @param key       its key for the tools.
/// @param is_stored whether a store keeps its sessions.
[[nodiscard]] json entry_of(const descriptor& x, const std::string& key,
                            bool is_stored);

} // namespace tertulia::web
