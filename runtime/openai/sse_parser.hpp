// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace tertulia::openai {

/// Finds the data of server-sent events in bytes that come in any pieces.
///
/// @threads none of its own.
class sse_parser {
public:
  /// @param max_size of a line, and of the data of an event: bytes.
  explicit sse_parser(std::size_t max_size) : max_size_(max_size) {}

  /// Takes the next bytes.
  /// @errors throws `resource_exhausted` if a line or an event is too long.
  void feed(std::string_view bytes);

  /// Returns the data of the next event; empty if that is not there yet.
  std::optional<std::string> next();

private:
  void end_line();

  std::size_t max_size_;
  std::string line_;
  bool after_return_ = false; // a line feed belongs to the line before
  bool has_data_ = false;
  std::string data_;
  std::deque<std::string> events_;
};

} // namespace tertulia::openai
