// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/artifact_list.hpp>
#include <tertulia/ai/message_log.hpp>
#include <tertulia/inspect.hpp>
#include <tertulia/payload.hpp>
#include <tertulia/stored_type.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tertulia {

/// Content of a state. Stored; append only.
enum class state_form : std::uint8_t {
  /// One value of the agent's own type, and nothing else.
  plain = 0,
  /// Messages, custom value and artifacts: `ai::conversation_state`.
  conversation = 1,
};

BOOST_DESCRIBE_ENUM(state_form, plain, conversation)

/// State of a session at one moment, of any type. Sessions work on states, and
/// stores keep them.
///
/// A state is immutable. It shares with its predecessor the parts that they
/// have in common, so a copy costs a few pointers.
///
/// @threads a value; the shared parts can be read by many threads at once.
/// @design  docs/sessions.md#records-and-states; docs/genkit.md 000 §1.1,
///          003 §1.1.
class state {
public:
  /// Makes a plain state without a value.
  state() = default;

  /// Makes a plain state: a value of the agent's own type.
  /// @param type the type of the value: `stored_type::of<T>()`.
  [[nodiscard]] static state plain(payload value, stored_type type = {});

  /// Makes the state of a conversation.
  /// @param custom may be empty; it is then left out of the canonical JSON.
  /// @param type   of the custom value: `stored_type::of<Custom>()`.
  [[nodiscard]] static state
  conversation(ai::message_log messages, payload custom,
               ai::artifact_list artifacts, stored_type type = {});

  [[nodiscard]] state_form form() const noexcept {
    return form_;
  }

  /// Returns the messages so far; empty in a plain state.
  [[nodiscard]] const ai::message_log& messages() const noexcept {
    return messages_;
  }

  /// Returns the custom value of a conversation, or the value of a plain state.
  [[nodiscard]] const payload& custom() const noexcept {
    return custom_;
  }

  /// Returns the type and version of the value in `custom`. They are not part
  /// of the canonical JSON or of the id.
  [[nodiscard]] const stored_type& type() const noexcept {
    return type_;
  }

  /// Returns the artifacts; empty in a plain state.
  [[nodiscard]] const ai::artifact_list& artifacts() const noexcept {
    return artifacts_;
  }

  // -- changed copies ---------------------------------------------------------

  [[nodiscard]] state with_messages(ai::message_log x) const;
  /// @pre the new value is of the same type.
  [[nodiscard]] state with_custom(payload x) const;
  [[nodiscard]] state with_type(stored_type x) const;
  [[nodiscard]] state with_artifacts(ai::artifact_list x) const;

  /// Adds an artifact, or replaces the one of the same name in its place. An
  /// artifact without a name is always added.
  [[nodiscard]] state with_artifact(ai::artifact x) const;

  // -- canonical JSON ---------------------------------------------------------

  /// Appends the canonical JSON: `{"messages":[…],"custom":…,"artifacts":[…]}`
  /// without empty parts, or the value of a plain state. The id is its
  /// `sha256sum`.
  /// @errors `invalid_argument` for a value without JSON, such as a NaN.
  void append_text(std::string& to) const;

  [[nodiscard]] std::string text() const;

  /// Returns the hash of the canonical JSON. Messages that were hashed before,
  /// in this state or one that it grew from, are not hashed again.
  /// @errors `invalid_argument` for a value without JSON, such as a NaN.
  [[nodiscard]] state_id id() const;

  /// Returns whether both consist of the same shared parts, in O(1). If false,
  /// the states may still be equal.
  [[nodiscard]] bool same_as(const state& x) const noexcept;

  /// Compares by content; skips shared parts.
  friend bool operator==(const state& x, const state& y) {
    return x.form_ == y.form_ && x.type_ == y.type_
           && x.messages_ == y.messages_ && x.custom_ == y.custom_
           && x.artifacts_ == y.artifacts_;
  }

private:
  /// Appends the text after the messages: the custom value and the artifacts.
  void append_rest(std::string& to) const;

  state_form form_ = state_form::plain;
  ai::message_log messages_;
  payload custom_;
  stored_type type_;
  ai::artifact_list artifacts_;
};

/// Form of a state between processes: the text of each of its parts, empty for
/// a missing part.
struct encoded_state : memberwise {
  encoded_state() = default;

  /// @errors throws `invalid_argument` for a value without JSON.
  explicit encoded_state(const state& x);

  /// Decodes the state. The custom value stays encoded until it is taken, so
  /// the id does not change.
  /// @errors throws `invalid_argument` that names the JSON path, or an unknown
  ///         form or type.
  [[nodiscard]] state decode() const;

  std::uint8_t form = 0;
  std::string messages;
  std::string custom;
  std::string artifacts;
  std::string type_name;
  std::uint32_t type_version = 1;
};

BOOST_DESCRIBE_STRUCT(encoded_state, (),
                      (form, messages, custom, artifacts, type_name,
                       type_version))

/// Encodes or decodes a state. One without canonical JSON fails the message
/// that carries it.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, state& x) {
  encoded_state text;
  if constexpr (Inspector::reads_state) {
    try {
      text = encoded_state{x};
    } catch (const status_error& error) {
      if constexpr (std::is_same_v<typename Inspector::result_type, caf::error>)
        return to_error(error);
      else
        text.custom = error.message();
    }
  }
  auto load = [&]() -> caf::error {
    try {
      x = text.decode();
      return caf::none;
    } catch (...) {
      return current_exception_to_error();
    }
  };
  return f(caf::meta::type_name("tertulia::state"), text,
           caf::meta::load_callback(load));
}

} // namespace tertulia
