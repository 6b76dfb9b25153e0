// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>

#include <vector>

#include "command_environment.hpp"
#include "exit_code.hpp"
#include "output/documents.hpp"

namespace tertulia::tool {

/// Prints damage for people: corrupt items, then missing ones, each list
/// followed by an empty line. Prints nothing for an empty list.
void print_damages(tool& t, const std::vector<damage>& damages);

/// Returns an array with one JSON document for each damage.
[[nodiscard]] document document_of(const std::vector<damage>& damages);

/// Returns the exit code for a command that has found this damage.
[[nodiscard]] exit_code code_of(const std::vector<damage>& damages) noexcept;

} // namespace tertulia::tool
