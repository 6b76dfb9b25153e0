// SPDX-License-Identifier: BSD-3-Clause

#include "words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace tertulia::offline {

namespace {

using pair = std::pair<std::string_view, std::string_view>;

constexpr std::array<pair, 14> contractions{{
  {"i'm", "I am"},
  {"i've", "I have"},
  {"i'll", "I will"},
  {"i'd", "I would"},
  {"you're", "you are"},
  {"you've", "you have"},
  {"you'll", "you will"},
  {"you'd", "you would"},
  {"what's", "what is"},
  {"can't", "cannot"},
  {"won't", "will not"},
  {"don't", "do not"},
  {"didn't", "did not"},
  {"isn't", "is not"},
}};

constexpr std::array<pair, 9> reflections{{
  {"i", "you"},
  {"me", "you"},
  {"my", "your"},
  {"mine", "yours"},
  {"myself", "yourself"},
  {"am", "are"},
  {"your", "my"},
  {"yours", "mine"},
  {"yourself", "myself"},
}};

template <std::size_t N>
std::string_view
looked_up(const std::array<pair, N>& in, std::string_view what) {
  const auto found = std::find_if(in.begin(), in.end(), [&](const auto& x) {
    return x.first == what;
  });
  return found == in.end() ? std::string_view{} : found->second;
}

/// Returns whether `you` is a subject: the next word may be a verb.
bool is_subject(const sentence& words, std::size_t at, std::size_t last) {
  if (at + 1 >= last)
    return false;
  constexpr std::array objects{"and", "or",   "in",    "on",      "at", "to",
                               "for", "with", "about", "because", "so", "when"};
  return std::find(objects.begin(), objects.end(), words[at + 1].lower)
         == objects.end();
}

std::string plain_apostrophes(std::string_view text) {
  constexpr std::string_view curly = "\xE2\x80\x99";
  std::string result;
  result.reserve(text.size());
  for (auto position = text.find(curly); position != std::string_view::npos;
       position = text.find(curly)) {
    result += text.substr(0, position);
    result += '\'';
    text.remove_prefix(position + curly.size());
  }
  return result += text;
}

class splitter {
public:
  std::vector<sentence> split(const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto x = text[i];
      const auto ends = i + 1 == text.size() || text[i + 1] == ' '
                        || text[i + 1] == '\n' || text[i + 1] == '"';
      if (x == '!' || x == '?' || x == ';' || x == '\n'
          || (ends && (x == '.' || x == ',' || x == ':'))) // not inside 1.5
        end_sentence();
      else if (x == ' ' || x == '\t' || x == '\r' || x == '"')
        end_word();
      else
        word_ += x;
    }
    end_sentence();
    return std::move(sentences_);
  }

private:
  void add(std::string written) {
    auto lower = lowered(written);
    words_.push_back(word{std::move(written), std::move(lower)});
  }

  void end_word() {
    if (word_.empty())
      return;
    auto written = std::exchange(word_, {});
    const auto lower = lowered(written);
    if (lower == "but")
      return end_sentence();
    const auto full = looked_up(contractions, lower);
    if (full.empty())
      return add(std::move(written));
    const auto blank = full.find(' ');
    add(std::string{full.substr(0, blank)});
    if (blank != std::string_view::npos)
      add(std::string{full.substr(blank + 1)});
  }

  void end_sentence() {
    if (!word_.empty())
      end_word();
    if (!words_.empty())
      sentences_.push_back(std::exchange(words_, {}));
  }

  std::vector<sentence> sentences_;
  sentence words_;
  std::string word_;
};

} // namespace

bool is_letter(std::string_view text, std::size_t at) {
  return at < text.size()
         && (std::isalnum(static_cast<unsigned char>(text[at])) != 0
             || text[at] == '_' || (text[at] & 0x80) != 0);
}

std::size_t find_word(std::string_view text, std::string_view what) {
  if (what.empty())
    return std::string_view::npos;
  for (auto position = text.find(what); position != std::string_view::npos;
       position = text.find(what, position + 1))
    if ((position == 0 || !is_letter(text, position - 1))
        && !is_letter(text, position + what.size()))
      return position;
  return std::string_view::npos;
}

std::vector<sentence> sentences_of(std::string_view text) {
  return splitter{}.split(plain_apostrophes(text));
}

std::string joined(const sentence& words, std::size_t first, std::size_t last) {
  std::string result;
  for (auto i = first; i < last; ++i) {
    if (i > first)
      result += ' ';
    result += words[i].written;
  }
  return result;
}

std::string reflected(const sentence& words, std::size_t first,
                      std::size_t last) {
  std::string result;
  std::string_view before; // last replacement; empty if the last word was kept
  for (auto i = first; i < last; ++i) {
    if (i > first)
      result += ' ';
    const auto& next = words[i];
    auto other = looked_up(reflections, next.lower);
    if (next.lower == "you")
      other = is_subject(words, i, last) ? "I" : "me";
    else if (next.lower == "are" && before == "I")
      other = "am";
    else if (next.lower == "was" && before == "you")
      other = "were";
    before = other;
    result += other.empty() ? std::string_view{next.written} : other;
  }
  return result;
}

} // namespace tertulia::offline
