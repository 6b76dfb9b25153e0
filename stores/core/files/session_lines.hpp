// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>
#include <tertulia/sha256.hpp>
#include <tertulia/snapshot.hpp>
#include <tertulia/state.hpp>
#include <tertulia/status.hpp>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

// Lines of a session file, as shown in session_file.hpp: their content, and how
// they are written and read.

namespace tertulia {

namespace session_lines {

inline constexpr std::string_view format_name = "tertulia-session";

/// Fields of the first line in every version of the format.
struct file_header {
  std::string format;
  std::uint64_t version = 0;
};
BOOST_DESCRIBE_STRUCT(file_header, (), (format, version))

struct first_line : file_header {
  session_info session;
};
BOOST_DESCRIBE_STRUCT(first_line, (file_header), (session))

/// Difference between a state and the state of the line before. Its members
/// have the same nesting depth as in the state itself, so a value that is not
/// too deep there is not too deep here.
// NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
struct news {
  state_form form = state_form::plain;
  /// Number of leading messages that are equal to those of the line before.
  std::uint64_t keep = 0;
  std::vector<ai::message> messages;
  json custom;
  std::vector<ai::artifact> artifacts;
  /// Those of `custom` and `artifacts` that are equal to the line before.
  std::vector<std::string> same;
};
BOOST_DESCRIBE_STRUCT(news, (), (form, keep, messages, custom, artifacts, same))

struct record_line : news {
  snapshot_record record;
};
BOOST_DESCRIBE_STRUCT(record_line, (news), (record))

struct ending {
  std::uint64_t records = 0;
  /// Id and type of the session's working state.
  state_id state;
  stored_type type;
  std::string sha256;
};
BOOST_DESCRIBE_STRUCT(ending, (), (records, state, type, sha256))

// NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
struct last_line : news {
  ending end;
};
BOOST_DESCRIBE_STRUCT(last_line, (news), (end))

} // namespace session_lines

template <>
inline constexpr auto omitted_when_empty<session_lines::news> = std::tuple{
  &session_lines::news::keep, &session_lines::news::messages,
  &session_lines::news::custom, &session_lines::news::artifacts,
  &session_lines::news::same};

template <>
inline constexpr auto omitted_when_empty<session_lines::ending> = std::tuple{
  &session_lines::ending::type};

namespace session_lines {

/// Stores the difference between two states in a line.
void tell(news& to, const state& before, const state& now);

/// Returns the state of a line. Its type comes from another part of the line.
/// @errors throws `invalid_argument` if the line cannot follow the state
///         before.
[[nodiscard]] state follow(const state& before, news x,
                           const stored_type& type);

/// Writer of lines, which also hashes them.
/// @threads one at a time.
class line_writer {
public:
  template <class Line>
  void write(const Line& x) {
    write_text(to_json_text(x));
  }

  /// Takes the text of the lines since the last call.
  [[nodiscard]] std::string take() noexcept {
    return std::exchange(text_, {});
  }

  /// Returns the hash of all lines so far.
  [[nodiscard]] std::string hash() const {
    return hash_.hex();
  }

private:
  void write_text(std::string text);

  std::string text_;
  sha256 hash_;
};

/// Reader of lines, one after the other. Its errors name the current line.
/// @threads one at a time.
class line_reader {
public:
  /// @param max_line maximum size in bytes; a longer line is damaged.
  line_reader(std::istream& from, std::size_t max_line)
    : from_(from), max_line_(max_line) {}

  /// Advances to the next line, which must exist.
  void next();

  [[nodiscard]] const std::string& text() const noexcept {
    return text_;
  }

  /// Parses the current line as a JSON document.
  [[nodiscard]] json document() const {
    return guarded([&] { return parse_json<json>(text_); });
  }

  /// Calls a function and reports its errors as damage of the current line.
  template <class Fn>
  [[nodiscard]] auto guarded(Fn fn) const -> decltype(fn()) {
    try {
      return fn();
    } catch (const status_error& x) {
      reject(errc::data_loss, x.message());
    }
  }

  void expect_end();

  [[noreturn]] void reject(errc code, const std::string& reason) const {
    reject(number_, code, reason);
  }

  [[noreturn]] static void reject(std::uint64_t line, errc code,
                                  const std::string& reason);

  /// Returns the number of the current line.
  [[nodiscard]] std::uint64_t number() const noexcept {
    return number_;
  }

  /// Returns the hash of all lines before the current one.
  [[nodiscard]] std::string hash() const {
    return hash_.hex();
  }

private:
  /// Reads a line and returns whether it exists.
  bool read_line();

  std::istream& from_;
  std::size_t max_line_;
  std::string text_;
  std::uint64_t number_ = 0;
  sha256 hash_;
};

} // namespace session_lines

} // namespace tertulia
