// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/generate_request.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tertulia::offline {

/// Returns the requests for the tools that a text asks for, in the order in
/// which it names them: `use the weather tool for Lisbon`.
///
/// If a tool is required and none is named, the first one is asked for.
std::vector<ai::tool_request> tool_wishes(const ai::generate_request& asked,
                                          std::string_view text);

/// Returns the name of a tool that a text asks for by the word `tool`; empty if
/// it asks for none.
std::string wanted_tool(std::string_view text);

/// Says in words what tools have answered.
std::string told_of(const ai::message& responses);

} // namespace tertulia::offline
