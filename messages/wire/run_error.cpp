// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/text.hpp>
#include <tertulia/store/runs.hpp>

#include <string>

namespace tertulia {

std::string error_of_run(std::string_view text) {
  if (!detail::is_utf8(text))
    return "the text of the error is not UTF-8";
  constexpr std::size_t bytes_of_character = 4;
  if (text.size() > max_run_error)
    text = detail::first_characters(text, max_run_error / bytes_of_character);
  return std::string{text};
}

} // namespace tertulia
