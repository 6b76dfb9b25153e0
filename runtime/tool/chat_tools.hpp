// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/tool.hpp>
#include <tertulia/runtime.hpp>

#include <vector>

namespace tertulia::tool {

/// Defines what the model of a chat may ask for: `clock`, `dice`, `timer` and
/// `ask_user`.
[[nodiscard]] std::vector<ai::tool> define_chat_tools(runtime& rt);

} // namespace tertulia::tool
