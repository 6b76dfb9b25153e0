// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/model.hpp>
#include <tertulia/json.hpp>

#include <iostream>
#include <string>

namespace example {

/// Asks for the next thing to say. What does not come from the terminal is
/// shown as if it did.
/// @returns false if there is no more.
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

/// Prints what a model says in a turn as it comes, with the tools that it asks
/// for and what they give back.
class turn_printer {
public:
  void show(const tertulia::ai::model_response_chunk& piece) {
    for (const auto& part : piece.content)
      if (const auto* text = part.as_text()) {
        std::cout << text->text << std::flush;
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

  /// Prints something on a line of its own, with as much of it as fits there.
  void show(const std::string& what) {
    end_line();
    constexpr std::size_t most = 78;
    std::cout << '['
              << (what.size() <= most ? what : what.substr(0, most - 2) + "..")
              << "]\n";
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
