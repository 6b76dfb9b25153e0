// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// What people and models have written may hold anything: what would move the
// cursor, change colours, turn the direction of the text, hide in it or pile up
// over other lines never reaches a terminal as it is.

namespace tertulia::tool {

/// Returns the text with everything that does not simply show replaced by what
/// does: `\n`, `\x1b`, `\u{202e}`.
[[nodiscard]] std::string shown(std::string_view text);

/// The same, with blanks in place of line breaks and tabs.
[[nodiscard]] std::string one_line(std::string_view text);

/// The same, with line breaks and tabs as they are.
[[nodiscard]] std::string shown_lines(std::string_view text);

/// The same for a text that comes in pieces.
/// @param marks number of characters without width at the end of the pieces
///              before; gets that of this one.
[[nodiscard]] std::string shown_lines(std::string_view text,
                                      std::size_t& marks);

/// Returns JSON text that means the same, with `\u009b` in place of what JSON
/// allows in a string and a terminal would obey.
[[nodiscard]] std::string shown_json(std::string_view text);

/// Returns the text with U+FFFD in place of what is no UTF-8.
[[nodiscard]] std::string as_utf8(std::string_view text);

/// Returns how many cells of a terminal the text takes that simply shows.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// Returns the text if it fits, or as much of it as does, and `…`.
/// @param cells 1 or more.
[[nodiscard]] std::string cut(std::string_view text, std::size_t cells);

/// Returns a text as a shell would read it back: `s1`, `'my session'`.
[[nodiscard]] std::string as_word(std::string_view text);

/// Returns the plural of a noun that has a regular one: `1 session`,
/// `2 sessions`.
[[nodiscard]] std::string counted(unsigned long long n, const char* noun);

} // namespace tertulia::tool
