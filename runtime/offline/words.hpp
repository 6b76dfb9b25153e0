// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>
#include <string_view>
#include <vector>

// Text as the offline model sees it: sentences of words.

namespace tertulia::offline {

/// A word as it was written, and in lower case.
struct word {
  std::string written;
  std::string lower;
};

using sentence = std::vector<word>;

/// Returns the text in lower case; letters beyond ASCII stay as they are.
std::string lowered(std::string_view text);

/// Whether a letter, a digit or what may be one stands at that place.
bool is_letter(std::string_view text, std::size_t at);

/// Returns where the text has the whole word first; `npos` if nowhere.
std::size_t find_word(std::string_view text, std::string_view what);

/// Splits a text at its punctuation marks and at `but`, and each sentence at
/// its blanks; spells out contractions such as `I'm`. Empty ones are left out.
std::vector<sentence> sentences_of(std::string_view text);

/// Returns the words from `first` up to `last`, as they were written.
std::string joined(const sentence& words, std::size_t first, std::size_t last);

/// The same from the view of the other person: `my` becomes `your`.
std::string reflected(const sentence& words, std::size_t first,
                      std::size_t last);

} // namespace tertulia::offline
