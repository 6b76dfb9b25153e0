// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/snapshot.hpp>
#include <tertulia/store.hpp>

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

// What `--json` prints: the nouns of the protocol with their members in the
// order of their description.

namespace tertulia::tool {

/// A JSON document that keeps the order of its members.
using document = nlohmann::ordered_json;

/// Returns the document of a JSON text; the text itself, as a string, for text
/// that `parse_json` refuses.
[[nodiscard]] document document_in(std::string_view text);

/// What is no UTF-8 in names and texts is replaced: it has no JSON.
/// @errors `data_loss` for a state that is nested too deep to be shown.
[[nodiscard]] document document_of(session_info x);
[[nodiscard]] document document_of(snapshot_record x);
[[nodiscard]] document document_of(damage x);
[[nodiscard]] document document_of(const state& x);

/// Returns one line of JSON that a terminal only shows.
[[nodiscard]] std::string text_of(const document& x);

/// The same over several lines, for people.
[[nodiscard]] std::string pretty_text_of(const document& x);

} // namespace tertulia::tool
