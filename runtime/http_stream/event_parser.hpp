// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/http_stream.hpp>

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace tertulia::http {

/// Parser for server-sent events, in bytes that arrive in pieces of any size.
///
/// @threads one at a time.
class event_parser {
public:
  /// @param max_size limit of a line, and of the data of an event, in bytes.
  explicit event_parser(std::size_t max_size) : max_size_(max_size) {}

  /// Takes the next bytes.
  /// @errors throws `resource_exhausted` if a line or an event is too long.
  void feed(std::string_view bytes);

  /// Returns the next event; empty if it is not complete yet.
  std::optional<http_event> next();

private:
  void end_line();
  void end_event();

  std::size_t max_size_;
  std::string line_;
  bool after_return_ = false; // a line feed would end the same line
  bool has_data_ = false;
  http_event event_;
  std::deque<http_event> events_;
};

} // namespace tertulia::http
