// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json_value.hpp>

#include <compare>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace tertulia {

/// Name of an object of one kind. Each kind has its own type, so a snapshot id
/// cannot be passed as a session id. A string in JSON.
///
/// @threads a value.
template <class Kind>
class identifier {
public:
  /// Makes an empty identifier, which names nothing.
  identifier() = default;

  explicit identifier(std::string text) noexcept : text_(std::move(text)) {}

  /// Returns the text of an lvalue; use `to_string` for a temporary.
  [[nodiscard]] const std::string& str() const& noexcept {
    return text_;
  }

  [[nodiscard]] const std::string& str() const&& = delete;

  [[nodiscard]] bool empty() const noexcept {
    return text_.empty();
  }

  /// Returns whether the identifier is not empty.
  explicit operator bool() const noexcept {
    return !text_.empty();
  }

  friend auto operator<=>(const identifier&, const identifier&) = default;

  friend std::string to_string(const identifier& x) {
    return x.text_;
  }

private:
  std::string text_;
};

template <class Kind>
struct json_codec<identifier<Kind>> : detail::schema_of_strings {
  static void write(std::string& out, const identifier<Kind>& x,
                    const json_path& path) {
    detail::write_text(out, x.str(), path);
  }

  static identifier<Kind> read(const json& from, const json_path& path) {
    return identifier<Kind>{detail::require_string(from, path)};
  }
};

/// Name of a session: chosen by the client, or a UUID.
using session_id = identifier<struct session_kind>;

/// Name of a snapshot: the hash of its state or a UUID, depending on the id
/// scheme of the agent.
using snapshot_id = identifier<struct snapshot_kind>;

/// Name of a run: a UUID.
using run_id = identifier<struct run_kind>;

/// Name of a turn, chosen by a client: the same name never makes a second turn.
using turn_id = identifier<struct turn_kind>;

/// Name of a caller, such as a user whom a server has authenticated.
using caller_name = identifier<struct caller_kind>;

/// Name of a state, derived from its content: the lower-case hex SHA-256 of its
/// canonical JSON.
using state_id = identifier<struct state_kind>;

} // namespace tertulia

template <class Kind>
struct std::hash<tertulia::identifier<Kind>> {
  std::size_t operator()(const tertulia::identifier<Kind>& x) const noexcept {
    return std::hash<std::string_view>{}(x.str());
  }
};
