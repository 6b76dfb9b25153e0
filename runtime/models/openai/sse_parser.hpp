// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace tertulia::openai {

/// Parser for the data of server-sent events, in bytes that arrive in pieces of
/// any size.
///
/// @threads one at a time.
class sse_parser {
public:
  /// @param max_size limit of a line, and of the data of an event, in bytes.
  explicit sse_parser(std::size_t max_size) : max_size_(max_size) {}

  /// Takes the next bytes.
  /// @errors throws `resource_exhausted` if a line or an event is too long.
  void feed(std::string_view bytes);

  /// Returns the data of the next event; empty if it is not complete yet.
  std::optional<std::string> next();

private:
  void end_line();

  std::size_t max_size_;
  std::string line_;
  bool after_return_ = false; // a line feed would end the same line
  bool has_data_ = false;
  std::string data_;
  std::deque<std::string> events_;
};

} // namespace tertulia::openai
