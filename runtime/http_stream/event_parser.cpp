// SPDX-License-Identifier: BSD-3-Clause

#include "event_parser.hpp"

#include <tertulia/status.hpp>

#include <algorithm>
#include <utility>

namespace tertulia::http {

void event_parser::feed(std::string_view bytes) {
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

std::optional<http_event> event_parser::next() {
  if (events_.empty())
    return std::nullopt;
  auto result = std::move(events_.front());
  events_.pop_front();
  return result;
}

void event_parser::end_line() {
  const auto line = std::exchange(line_, {});
  if (line.empty())
    return end_event();
  // Not line.find: g++ 12 takes its memchr for one beyond the largest object.
  const auto colon = std::find(line.begin(), line.end(), ':');
  const std::string_view name{line.begin(), colon};
  std::string_view value{colon == line.end() ? colon : colon + 1, line.end()};
  if (value.starts_with(' '))
    value.remove_prefix(1);
  if (name == "event")
    event_.name = value;
  if (name != "data")
    return; // a comment, or a field that is not needed
  if (event_.data.size() + value.size() > max_size_)
    throw status_error{errc::resource_exhausted,
                       "the server sent an event that is too long"};
  if (std::exchange(has_data_, true))
    event_.data += '\n';
  event_.data += value;
}

void event_parser::end_event() {
  auto event = std::exchange(event_, {});
  if (!std::exchange(has_data_, false))
    return; // the protocol drops an event without data
  if (event.name.empty())
    event.name = "message";
  events_.push_back(std::move(event));
}

} // namespace tertulia::http
