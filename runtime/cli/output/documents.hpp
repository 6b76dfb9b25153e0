// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/snapshot.hpp>
#include <tertulia/store.hpp>

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

// Output of `--json`: the nouns of the protocol, with their members in the
// order of their description.

namespace tertulia::tool {

/// A JSON document that keeps the order of its members.
using document = nlohmann::ordered_json;

/// Parses a JSON text. Returns text that `parse_json` refuses as a JSON string.
[[nodiscard]] document document_in(std::string_view text);

/// Each function returns the JSON document of a value. Invalid UTF-8 in names
/// and texts is replaced, because JSON cannot represent it.
/// @errors `data_loss` for a state that is nested too deep to be shown.
[[nodiscard]] document document_of(session_info x);
[[nodiscard]] document document_of(snapshot_record x);
[[nodiscard]] document document_of(damage x);
[[nodiscard]] document document_of(const state& x);

/// Returns one line of JSON without characters that control a terminal.
[[nodiscard]] std::string text_of(const document& x);

/// Returns JSON in several lines, without characters that control a terminal.
[[nodiscard]] std::string pretty_text_of(const document& x);

} // namespace tertulia::tool
