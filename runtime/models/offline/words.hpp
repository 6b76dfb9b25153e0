// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/text.hpp>

#include <string>
#include <string_view>
#include <vector>

// Text as the offline model uses it: sentences of words.

namespace tertulia::offline {

/// Word as written, and in lower case.
struct word {
  std::string written;
  std::string lower;
};

using sentence = std::vector<word>;

using detail::lowered;

/// Returns whether the byte at a position is a letter, a digit, `_`, or a part
/// of a character beyond ASCII.
bool is_letter(std::string_view text, std::size_t at);

/// Returns the position of the first whole-word match; `npos` if there is none.
std::size_t find_word(std::string_view text, std::string_view what);

/// Splits a text at its punctuation marks and at `but`, and each sentence at
/// its blanks. Contractions such as `I'm` are spelled out; empty sentences and
/// words are omitted.
std::vector<sentence> sentences_of(std::string_view text);

/// Returns the words from `first` up to `last`, as written.
std::string joined(const sentence& words, std::size_t first, std::size_t last);

/// Returns the words with the pronouns swapped: `my` becomes `your`.
std::string reflected(const sentence& words, std::size_t first,
                      std::size_t last);

} // namespace tertulia::offline
