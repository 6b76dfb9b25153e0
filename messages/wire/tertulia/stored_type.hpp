// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json_value.hpp>
#include <tertulia/type_version.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace tertulia {

/// Type of the value in a state: its name and version, which this program may
/// not know.
///
/// Copying costs a pointer; a type of this program is not reference-counted.
///
/// @threads a value.
/// @design  docs/sessions.md#states-that-evolve.
class stored_type {
public:
  /// Makes the default type: no name, version 1.
  stored_type() = default;

  /// @errors throws `invalid_argument` for an invalid name, see `type_version`,
  ///         and for version 0.
  stored_type(std::string_view name, std::uint32_t version);

  /// Returns the stored type of a type of this program.
  template <class T>
  [[nodiscard]] static stored_type of() noexcept {
    constexpr const auto& known = version_of<T>;
    static_assert(detail::is_type_name(known.name),
                  "the name of a type is printable ASCII without blanks");
    static_assert(known.version > 0, "versions begin at 1");
    stored_type result;
    if constexpr (!known.name.empty() || known.version != 1)
      // Lives as long as the program: no ownership needed.
      result.type_ = {std::shared_ptr<void>{}, &known};
    return result;
  }

  /// Returns the name; empty for the default type.
  [[nodiscard]] std::string_view name() const noexcept {
    return type_ ? type_->name : std::string_view{};
  }

  [[nodiscard]] std::uint32_t version() const noexcept {
    return type_ ? type_->version : 1;
  }

  /// Returns whether this is the default type: no name, version 1.
  [[nodiscard]] bool empty() const noexcept {
    return !type_;
  }

  friend bool operator==(const stored_type& x, const stored_type& y) noexcept {
    return x.type_ == y.type_
           || (x.type_ && y.type_ && x.type_->name == y.type_->name
               && x.type_->version == y.type_->version);
  }

private:
  /// Null for the default type.
  std::shared_ptr<const type_version> type_;
};

/// JSON of a stored type: `{"name":"app.memo","version":2}`.
template <>
struct json_codec<stored_type> {
  static void write(std::string& out, const stored_type& x,
                    const json_path& path);
  static stored_type read(const json& from, const json_path& path);
  static json schema();
};

namespace detail {

/// Refuses a state that this program cannot read.
/// @param step the version from which no migration leads on; 0 if that is not
///             the reason.
/// @errors throws `failed_precondition`, always; the details are
///         `{"known":…,"stored":…}`, with `step` if there is one.
[[noreturn]] void reject_type(const stored_type& stored,
                              const stored_type& known, std::uint32_t step = 0);

/// Returns whether both have names and the names differ.
[[nodiscard]] inline bool are_strangers(const stored_type& x,
                                        const stored_type& y) noexcept {
  return !x.name().empty() && !y.name().empty() && x.name() != y.name();
}

/// Refuses a state that cannot be read without migration.
/// @errors throws `failed_precondition`.
inline void expect_type(const stored_type& stored, const stored_type& known) {
  if (stored.version() != known.version() || are_strangers(stored, known))
    reject_type(stored, known,
                stored.version() < known.version() ? stored.version() : 0);
}

} // namespace detail

} // namespace tertulia

template <>
struct std::hash<tertulia::stored_type> {
  std::size_t operator()(const tertulia::stored_type& x) const noexcept {
    return std::hash<std::string_view>{}(x.name()) + x.version();
  }
};
