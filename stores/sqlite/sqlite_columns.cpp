// SPDX-License-Identifier: BSD-3-Clause

#include "sqlite_columns.hpp"

#include <tertulia/detail/text.hpp>
#include <tertulia/json.hpp>
#include <tertulia/status.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <type_traits>

namespace tertulia::columns {

namespace {

constexpr std::array<std::string_view, 3> event_names{
  "turn_end", "tool_iteration_end", "invocation_end"};

constexpr std::array<std::string_view, 6> reason_names{
  "stop", "length", "blocked", "interrupted", "other", "unknown"};

/// Text of a type: its name, a blank and its version; empty for the default.
std::string text_of(const stored_type& x) {
  if (x.empty())
    return {};
  return std::string{x.name()} + ' ' + std::to_string(x.version());
}

std::optional<stored_type> to_type(std::string_view text) {
  if (text.empty())
    return stored_type{};
  const auto blank = text.rfind(' ');
  if (blank == std::string_view::npos)
    return std::nullopt;
  const auto name = text.substr(0, blank);
  std::uint32_t version = 0;
  std::from_chars(text.data() + blank + 1, text.data() + text.size(), version);
  if (!detail::is_type_name(name) || version == 0)
    return std::nullopt;
  stored_type result{name, version};
  if (text_of(result) != text)
    return std::nullopt; // another way to write it
  return result;
}

/// Reads the columns of a row.
class reading {
public:
  reading(const sqlite_statement::cursor& from, int column)
    : from_(from), column_(column) {}

  [[nodiscard]] bool is_valid() const noexcept {
    return is_valid_;
  }

  void operator()(const char*, std::int64_t& x) {
    x = from_.number(column_++);
  }

  void operator()(const char*, std::uint64_t& x) {
    x = from_.count(column_++);
  }

  void operator()(const char*, bool& x) {
    const auto found = from_.number(column_++);
    x = found != 0;
    expect(found == 0 || found == 1);
  }

  void operator()(const char*, std::string& x) {
    x = from_.text(column_++);
  }

  void operator()(const char*, session_id& x) {
    x = session_id{from_.text(column_++)};
  }

  void operator()(const char*, snapshot_id& x) {
    x = snapshot_id{from_.text(column_++)};
  }

  void operator()(const char*, state_id& x) {
    const auto bytes = from_.view(column_++);
    x = state_id{detail::to_hex(
      {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()})};
    expect(bytes.size() == 32);
  }

  void operator()(const char*, timestamp& x) {
    x = timestamp{timestamp::duration{from_.number(column_++)}};
  }

  void operator()(const char*, snapshot_event& x) {
    const auto found = to_event(from_.view(column_++));
    expect(found.has_value());
    x = found.value_or(snapshot_event::turn_end);
  }

  void operator()(const char*, std::optional<ai::finish_reason>& x) {
    const auto text = from_.view(column_++);
    x.reset();
    if (text.empty())
      return;
    const auto i = std::find(reason_names.begin(), reason_names.end(), text);
    expect(i != reason_names.end());
    if (i != reason_names.end())
      x = static_cast<ai::finish_reason>(i - reason_names.begin());
  }

  void operator()(const char*, std::optional<std::uint64_t>& x) {
    const auto found = from_.number(column_++);
    x.reset();
    expect(found >= -1);
    if (found >= 0)
      x = static_cast<std::uint64_t>(found);
  }

  void operator()(const char*, std::optional<turn_id>& x) {
    auto text = from_.text(column_++);
    x.reset();
    if (!text.empty())
      x.emplace(std::move(text));
  }

  void operator()(const char*, std::vector<past_turn>& x) {
    const auto text = from_.view(column_++);
    x.clear();
    if (text.empty())
      return;
    try {
      x = parse_json<std::vector<past_turn>>(text);
    } catch (const status_error&) {
      expect(false);
    }
  }

  void operator()(const char*, state_form& x) {
    const auto found = from_.number(column_++);
    x = found == 0 ? state_form::plain : state_form::conversation;
    expect(found == 0 || found == 1);
  }

  void operator()(const char*, stored_type& x) {
    auto found = to_type(from_.view(column_++));
    expect(found.has_value());
    x = found ? std::move(*found) : stored_type{};
  }

  void operator()(const char*, std::vector<std::string>&) {}

private:
  void expect(bool holds) {
    is_valid_ = is_valid_ && holds;
  }

  const sqlite_statement::cursor& from_;
  int column_;
  bool is_valid_ = true;
};

template <class Row>
bool read_row(Row& to, const sqlite_statement::cursor& from, int column) {
  reading result{from, column};
  for_each_column(to, result);
  return result.is_valid();
}

} // namespace

std::string bytes_of_hex(std::string_view hex) {
  std::array<std::uint8_t, 32> bytes{};
  if (!detail::read_hex(hex, bytes))
    return {};
  return {bytes.begin(), bytes.end()};
}

std::optional<snapshot_event> to_event(std::string_view x) {
  const auto i = std::find(event_names.begin(), event_names.end(), x);
  if (i == event_names.end())
    return std::nullopt;
  return static_cast<snapshot_event>(i - event_names.begin());
}

std::int64_t to_number(timestamp x) {
  return x.time_since_epoch().count();
}

std::int64_t hour_of(timestamp x) {
  return std::chrono::duration_cast<std::chrono::hours>(x.time_since_epoch())
    .count();
}

// -- statements ---------------------------------------------------------------

template <class Row>
std::vector<std::string> names_of() {
  std::vector<std::string> result;
  Row row;
  for_each_column(row, [&](const char* name, const auto& value) {
    if constexpr (!std::is_same_v<std::decay_t<decltype(value)>,
                                  std::vector<std::string>>)
      result.emplace_back(name);
  });
  return result;
}

template std::vector<std::string> names_of<session_row>();
template std::vector<std::string> names_of<record_row>();

std::string list_of(const std::vector<std::string>& names,
                    std::string_view prefix) {
  std::string result;
  for (const auto& name : names) {
    if (!result.empty())
      result += ", ";
    result += prefix;
    result += name;
  }
  return result;
}

std::string places_for(std::size_t values) {
  std::string result;
  for (std::size_t i = 1; i <= values; ++i)
    result += (i == 1 ? "?" : ", ?") + std::to_string(i);
  return result;
}

// -- binding ------------------------------------------------------------------

void binding::operator()(const char*, std::int64_t x) {
  to_.bind(++index_, x);
}

void binding::operator()(const char*, std::uint64_t x) {
  to_.bind(++index_, x);
}

void binding::operator()(const char*, bool x) {
  to_.bind(++index_, std::int64_t{x ? 1 : 0});
}

void binding::operator()(const char*, std::string_view x) {
  to_.bind(++index_, x);
}

void binding::operator()(const char*, const session_id& x) {
  to_.bind(++index_, x.str());
}

void binding::operator()(const char*, const snapshot_id& x) {
  to_.bind(++index_, x.str());
}

void binding::operator()(const char*, const state_id& x) {
  to_.bind_blob(++index_, texts_.emplace_back(bytes_of_hex(x.str())));
}

void binding::operator()(const char*, timestamp x) {
  to_.bind(++index_, to_number(x));
}

void binding::operator()(const char*, snapshot_event x) {
  to_.bind(++index_, event_names.at(static_cast<std::size_t>(x)));
}

void binding::operator()(const char*,
                         const std::optional<ai::finish_reason>& x) {
  to_.bind(++index_, x ? reason_names.at(static_cast<std::size_t>(*x))
                       : std::string_view{});
}

void binding::operator()(const char*, const std::optional<std::uint64_t>& x) {
  to_.bind(++index_, x ? static_cast<std::int64_t>(*x) : std::int64_t{-1});
}

void binding::operator()(const char*, const std::optional<turn_id>& x) {
  to_.bind(++index_, x ? std::string_view{x->str()} : std::string_view{});
}

void binding::operator()(const char*, const std::vector<past_turn>& x) {
  to_.bind(++index_,
           texts_.emplace_back(x.empty() ? std::string{} : to_json_text(x)));
}

void binding::operator()(const char*, state_form x) {
  to_.bind(++index_, static_cast<std::int64_t>(x));
}

void binding::operator()(const char*, const stored_type& x) {
  to_.bind(++index_, texts_.emplace_back(text_of(x)));
}

// -- reading ------------------------------------------------------------------

bool read(session_row& to, const sqlite_statement::cursor& from, int column) {
  return read_row(to, from, column);
}

bool read(record_row& to, const sqlite_statement::cursor& from, int column) {
  return read_row(to, from, column);
}

} // namespace tertulia::columns
