// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/model.hpp>
#include <tertulia/json.hpp>

#include <cstddef>
#include <iostream>
#include <string>

namespace example {

/// Reads the next line. Lines that are not from the terminal are printed as if
/// they were typed.
/// @returns false at the end of the input.
inline bool next_line(std::istream& from, std::string& line) {
  const auto typed = &from == &std::cin;
  if (typed)
    std::cout << "> " << std::flush;
  if (!std::getline(from, line))
    return false;
  if (!typed)
    std::cout << "> " << line << '\n';
  return true;
}

/// Returns the text with `?` in place of control characters, except for line
/// breaks and tabs. Includes the controls of two bytes from U+0080 on.
inline std::string shown(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f)
      text[i] = '?';
    else if (byte == 0xc2 && i + 1 < text.size()
             && static_cast<unsigned char>(text[i + 1]) < 0xa0)
      text.replace(i, 2, "?");
  }
  return text;
}

/// Returns the text if it fits, or else a prefix of whole characters and `..`.
inline std::string shortened(std::string text, std::size_t most) {
  if (text.size() <= most)
    return text;
  auto end = most - 2;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80)
    --end;
  return text.substr(0, end) + "..";
}

/// Prints the output of a model in a turn as it arrives, with its tool requests
/// and their results.
class turn_printer {
public:
  void show(const tertulia::ai::model_response_chunk& piece) {
    for (const auto& part : piece.content)
      if (const auto* text = part.as_text()) {
        std::cout << shown(text->text) << std::flush;
        in_line_ = in_line_ || !text->text.empty();
      } else if (const auto* asked = part.as_request()) {
        show(asked->input.empty()
               ? asked->name
               : asked->name + ' ' + tertulia::to_json_text(asked->input));
      } else if (const auto* done = part.as_response()) {
        const auto& x = done->output;
        if (x.is_object() && x.contains("error"))
          show(done->name + " failed: " + x["error"].value("code", "") + ", "
               + x["error"].value("message", ""));
        else
          show(done->name + ": " + tertulia::to_json_text(x));
      }
  }

  /// Prints a text on a line of its own, shortened to fit.
  void show(const std::string& what) {
    end_line();
    constexpr std::size_t most = 78;
    std::cout << '[' << shortened(shown(what), most) << "]\n";
  }

  void end_line() {
    if (in_line_)
      std::cout << '\n';
    in_line_ = false;
  }

private:
  bool in_line_ = false;
};

} // namespace example
