// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>

#include <vector>

#include "documents.hpp"
#include "exit_code.hpp"
#include "tool.hpp"

namespace tertulia::tool {

/// Shows damage to people: what is corrupt, then what is missing, with an empty
/// line behind each. Nothing without any.
void print_damages(tool& t, const std::vector<damage>& damages);

/// The same for programs: one document each.
[[nodiscard]] document document_of(const std::vector<damage>& damages);

/// What a process says that has come across this damage.
[[nodiscard]] exit_code code_of(const std::vector<damage>& damages) noexcept;

} // namespace tertulia::tool
