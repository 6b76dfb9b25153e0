// SPDX-License-Identifier: BSD-3-Clause

#include "sse_parser.hpp"

#include <tertulia/status.hpp>

#include <algorithm>
#include <utility>

namespace tertulia::openai {

void sse_parser::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (std::exchange(after_return_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const auto end = std::min(bytes.find_first_of("\r\n"), bytes.size());
    if (line_.size() + end > max_size_)
      throw status_error{errc::resource_exhausted,
                         "the server sent a line that is too long"};
    line_.append(bytes.substr(0, end));
    if (end == bytes.size())
      return;
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line();
  }
}

std::optional<std::string> sse_parser::next() {
  if (events_.empty())
    return std::nullopt;
  auto result = std::move(events_.front());
  events_.pop_front();
  return result;
}

void sse_parser::end_line() {
  const auto line = std::exchange(line_, {});
  if (line.empty()) {
    if (std::exchange(has_data_, false))
      events_.push_back(std::exchange(data_, {}));
    return;
  }
  constexpr std::string_view name = "data";
  std::string_view value{line};
  if (!value.starts_with(name))
    return; // a comment, or a field that is not needed
  value.remove_prefix(name.size());
  if (!value.empty()) {
    if (!value.starts_with(':'))
      return;
    value.remove_prefix(1);
    if (value.starts_with(' '))
      value.remove_prefix(1);
  }
  if (data_.size() + value.size() > max_size_)
    throw status_error{errc::resource_exhausted,
                       "the server sent an event that is too long"};
  if (std::exchange(has_data_, true))
    data_ += '\n';
  data_ += value;
}

} // namespace tertulia::openai
