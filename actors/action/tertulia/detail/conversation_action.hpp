// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/action.hpp>
#include <tertulia/detail/session_policy.hpp>

#include <memory>
#include <string>
#include <utility>

namespace tertulia::detail {

/// An action whose connections have a session and a responder.
///
/// @threads immutable, as every action.
class conversation_action : public action {
public:
  using engine_type = conversation_action;

  /// @param state_type type of its sessions, by which contexts find them.
  conversation_action(std::shared_ptr<const descriptor> info,
                      session_policy policy, std::string state_type)
    : action(std::move(info), policy.runs), policy(std::move(policy)),
      kind(std::make_shared<const session_kind>(
        std::move(state_type), this->policy.span_key, name())) {}

  [[nodiscard]] const conversation_action* conversation() const noexcept final {
    return this;
  }

  /// Converts the request of the client.
  /// @param init the result of `check_init`; empty if the client gave none.
  /// @errors throws `invalid_argument` for options that contradict each other.
  [[nodiscard]] virtual session_start
  make_session_start(payload init, const open_options& options) const = 0;

  /// Returns the default first state of a session.
  [[nodiscard]] virtual state first_state() const = 0;

  /// Returns a custom value, or the only value of a plain state, in the
  /// action's own type.
  /// @errors throws `invalid_argument` that names the JSON path.
  [[nodiscard]] virtual payload check_custom(payload value) const = 0;

  /// Returns the state in the type that clients receive.
  /// @errors throws `invalid_argument` if its value is of another shape.
  [[nodiscard]] virtual payload client_state(const state& x) const = 0;

  /// Returns the input with which a body finishes a turn that was cut off;
  /// empty if its turns begin again from their inputs.
  [[nodiscard]] virtual payload resume_input() const {
    return {};
  }

  const session_policy policy;
  const std::shared_ptr<const session_kind> kind;

protected:
  /// Returns the input after the check of the policy, if there is one.
  /// @errors exceptions of the check.
  [[nodiscard]] payload accept_input(payload value) const {
    if (policy.check_input)
      policy.check_input(value);
    return value;
  }
};

} // namespace tertulia::detail
