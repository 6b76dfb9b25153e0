// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/tool.hpp>
#include <tertulia/runtime.hpp>

#include <vector>

namespace tertulia::tool {

/// Defines the tools of the chat model: `clock`, `dice`, `timer` and
/// `ask_user`.
[[nodiscard]] std::vector<ai::tool> define_chat_tools(runtime& rt);

} // namespace tertulia::tool
