// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/access.hpp>
#include <tertulia/detail/compiled_once.hpp>
#include <tertulia/json_value.hpp>
#include <tertulia/status.hpp>

#include <caf/intrusive_ptr.hpp>
#include <caf/meta/load_callback.hpp>
#include <caf/meta/type_name.hpp>
#include <caf/ref_counted.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace tertulia {

namespace detail {

/// Value inside a payload, of any type.
class boxed : public caf::ref_counted {
public:
  /// Operations on a box of unknown type. There is one object for each type, so
  /// its address identifies the type.
  struct operations {
    void (*write)(const boxed&, std::string& out);
    /// Returns the bytes of the value, without those that it points to.
    std::size_t (*size)(const boxed&);
    /// Returns a part of a list; null if the value is not a list.
    caf::intrusive_ptr<boxed> (*slice)(const boxed&, std::size_t first,
                                       std::size_t count);
  };

  explicit boxed(const operations* ops) noexcept : ops(ops) {}

  const operations* ops;
};

template <class T>
class box final : public boxed {
public:
  template <class... Ts>
  explicit box(Ts&&... xs)
    : boxed(&operations_of), value(std::forward<Ts>(xs)...) {}

  T value;

  static constexpr operations operations_of{
    [](const boxed& x, std::string& out) {
      append_json_text(out, static_cast<const box&>(x).value);
    },
    []([[maybe_unused]] const boxed& x) {
      if constexpr (is_vector<T>)
        return sizeof(box)
               + static_cast<const box&>(x).value.capacity()
                   * sizeof(typename T::value_type);
      else
        return sizeof(box);
    },
    []([[maybe_unused]] const boxed& x, [[maybe_unused]] std::size_t first,
       [[maybe_unused]] std::size_t count) -> caf::intrusive_ptr<boxed> {
      if constexpr (is_vector<T>) {
        const auto& list = static_cast<const box&>(x).value;
        if (list.size() < count || list.size() - count < first)
          return nullptr;
        const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first);
        return caf::make_counted<box>(
          begin, begin + static_cast<std::ptrdiff_t>(count));
      } else {
        return nullptr;
      }
    }};
};

/// JSON text that came from another process and is parsed on demand.
class encoded_box final : public boxed {
public:
  explicit encoded_box(std::string text);

  std::string text;

  static const operations operations_of;
};

} // namespace detail

/// Value that travels between two actors.
///
/// Inside a process the value is shared, typed and never encoded: copying a
/// payload copies a pointer. It becomes canonical JSON text only when a message
/// leaves the process, and is decoded when it is taken out.
///
/// @threads a value; the shared content is never changed.
/// @design  docs/protocol.md#messages.
class payload {
public:
  /// Makes an empty payload: it has no value, which differs from `null`.
  payload() = default;

  /// Wraps `value`.
  template <class T>
  [[nodiscard]] static payload of(T value) {
    return payload{caf::make_counted<detail::box<T>>(std::move(value))};
  }

  /// Wraps JSON text without parsing it.
  [[nodiscard]] static payload encoded(std::string text);

  explicit operator bool() const noexcept {
    return content_ != nullptr;
  }

  /// Returns the value if it is held as a `T`, `nullptr` otherwise.
  /// @lifetime the pointer is valid as long as this payload or a copy lives.
  template <class T>
  [[nodiscard]] const T* get_if() const noexcept {
    if (content_ && content_->ops == &detail::box<T>::operations_of)
      return &static_cast<const detail::box<T>&>(*content_).value;
    return nullptr;
  }

  /// Takes the value out. It is moved if it is not shared and copied if it is.
  /// It is decoded if it came as JSON, and converted through JSON if it is held
  /// as another type of the same shape.
  /// @errors `invalid_argument` that names the JSON path; also if empty.
  template <class T>
  [[nodiscard]] T take() && {
    if (content_ && content_->ops == &detail::box<T>::operations_of) {
      auto& held = static_cast<detail::box<T>&>(*content_);
      return held.unique() ? T(std::move(held.value)) : T(held.value);
    }
    if constexpr (std::is_same_v<T, json>) {
      return T(std::move(*document()));
    } else {
      if (const auto* held = held_document())
        return from_json<T>(*held);
      return from_json<T>(*document());
    }
  }

  /// Returns a payload that holds a `T`.
  /// @errors as `take`.
  template <class T>
  [[nodiscard]] payload as() && {
    if (get_if<T>() != nullptr)
      return std::move(*this);
    return of(std::move(*this).template take<T>());
  }

  /// Returns the payload in the form in which it leaves the process. Use it to
  /// get an encoding error here instead of a message that fails.
  /// @errors `invalid_argument` if not encodable (for example a NaN).
  [[nodiscard]] payload sealed() const {
    return content_ ? encoded(text()) : payload{};
  }

  /// Returns the value as a JSON document.
  /// @errors `invalid_argument` if empty, not JSON, or not encodable.
  [[nodiscard]] json to_json() const;

  /// Returns the value as canonical JSON text; empty for an empty payload.
  /// @errors `invalid_argument` if not encodable (for example a NaN).
  [[nodiscard]] std::string text() const;

  /// Returns `count` elements of a list, from the one at `first` on: an array
  /// in JSON. They are copied.
  /// @errors `invalid_argument` if the value is not a list, or is a shorter
  ///         one.
  [[nodiscard]] payload slice(std::size_t first, std::size_t count) const;

  /// Returns about how many bytes of memory the value takes: its own size and
  /// that of its JSON text, which stands for what it points to.
  [[nodiscard]] std::size_t footprint() const noexcept;

  /// Returns whether both share one value or are both empty, in O(1). If false,
  /// the values may still be equal.
  [[nodiscard]] bool same_as(const payload& x) const noexcept {
    return content_ == x.content_;
  }

  friend bool operator==(const payload& x, const payload& y) {
    return x.content_ == y.content_ || x.text() == y.text();
  }

private:
  friend detail::access;

  /// Returns the value if it is held as a JSON document that has a text, null
  /// otherwise.
  [[nodiscard]] const json* held_document() const;

  /// Returns `to_json` for a caller without the definition of `json`.
  [[nodiscard]] std::shared_ptr<json> document() const;

  /// Wraps a box that is filled already.
  explicit payload(caf::intrusive_ptr<detail::boxed> content) noexcept
    : content_(std::move(content)) {}

  caf::intrusive_ptr<detail::boxed> content_;
};

/// Encodes or decodes a payload. One that cannot be encoded fails the message
/// that carries it.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, payload& x) {
  std::string text;
  if constexpr (Inspector::reads_state) {
    // Stringification cannot fail, but text() can: show its error instead.
    try {
      text = x.text();
    } catch (const status_error& error) {
      if constexpr (std::is_same_v<typename Inspector::result_type, caf::error>)
        return to_error(error);
      else
        text = error.message();
    }
  }
  auto load = [&]() -> caf::error {
    x = text.empty() ? payload{} : payload::encoded(std::move(text));
    return caf::none;
  };
  return f(caf::meta::type_name("tertulia::payload"), text,
           caf::meta::load_callback(load));
}

} // namespace tertulia

TERTULIA_COMPILED_ONCE(tertulia::payload)
