// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Text of people and models can contain anything. Characters that move the
// cursor, change colours, turn the direction of the text, are invisible or pile
// up over other lines are never sent to a terminal unescaped.

namespace tertulia::tool {

/// Returns the text with all characters that control a terminal replaced by
/// visible escapes: `\n`, `\x1b`, `\u{202e}`.
[[nodiscard]] std::string shown(std::string_view text);

/// Like `shown`, but with blanks in place of line breaks and tabs.
[[nodiscard]] std::string one_line(std::string_view text);

/// Like `shown`, but keeps line breaks and tabs.
[[nodiscard]] std::string shown_lines(std::string_view text);

/// Like `shown_lines`, for a text in pieces.
/// @param marks number of zero-width characters at the end of the previous
///              pieces; receives that of this one.
[[nodiscard]] std::string shown_lines(std::string_view text,
                                      std::size_t& marks);

/// Returns equivalent JSON text, with escapes such as `\u009b` for characters
/// that JSON allows in a string but that control a terminal.
[[nodiscard]] std::string shown_json(std::string_view text);

/// Returns the text with U+FFFD in place of invalid UTF-8.
[[nodiscard]] std::string as_utf8(std::string_view text);

/// Returns the number of terminal cells of a text without control characters.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// Returns the text if it fits, or else its longest prefix that fits with `…`.
/// @param cells 1 or more.
[[nodiscard]] std::string cut(std::string_view text, std::size_t cells);

/// Returns a text quoted for a shell: `s1`, `'my session'`.
[[nodiscard]] std::string as_word(std::string_view text);

/// Returns texts in one line, with commas between them.
[[nodiscard]] std::string joined(const std::vector<std::string>& x);

/// Returns a number with a noun that has a regular plural: `1 session`,
/// `2 sessions`.
[[nodiscard]] std::string counted(unsigned long long n, const char* noun);

} // namespace tertulia::tool
