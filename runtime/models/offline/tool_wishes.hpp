// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/generate_request.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tertulia::offline {

/// Returns requests for the tools that a text asks for, in the order in which
/// it names them: `use the weather tool for Lisbon`.
///
/// If a tool is required and none is named, the first one is requested.
std::vector<ai::tool_request> tool_wishes(const ai::generate_request& request,
                                          std::string_view text);

/// Returns the name of the tool that a text asks for with the word `tool`;
/// empty if it does not ask for one.
std::string wanted_tool(std::string_view text);

/// Returns the responses of tools in plain words.
std::string told_of(const ai::message& responses);

} // namespace tertulia::offline
