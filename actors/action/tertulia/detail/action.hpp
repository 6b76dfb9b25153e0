// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/activity_counters.hpp>
#include <tertulia/detail/run_policy.hpp>
#include <tertulia/payload.hpp>
#include <tertulia/task.hpp>

#include <memory>
#include <string>

namespace tertulia {

class context;
struct descriptor;

namespace detail {

class conversation_action;

/// A defined action as the engine sees it, independent of its types.
///
/// @threads immutable; shared by the registry and every connection to it, so
///          the user's callable lives as long as any body of it runs.
class action {
public:
  /// Type by which the engine knows an action: this or `conversation_action`.
  using engine_type = action;

  /// @param info without a key if the action must not be found by key.
  explicit action(std::shared_ptr<const descriptor> info, run_policy runs = {});

  virtual ~action() = default;

  action(const action&) = delete;
  action& operator=(const action&) = delete;

  /// Returns `init` as the action's own type.
  /// @errors throws `invalid_argument` that names the JSON path.
  [[nodiscard]] virtual payload check_init(payload init) const = 0;

  /// Returns one input as the action's own type.
  /// @errors throws `invalid_argument` that names the JSON path.
  [[nodiscard]] virtual payload check_input(payload value) const = 0;

  /// Makes the task that runs a body.
  /// @param init the result of `check_init`; empty for a conversation, whose
  ///             body uses `host::client_init`.
  /// @errors exceptions of a body that is a plain function.
  [[nodiscard]] virtual task<payload> start_body(context ctx,
                                                 payload init) const = 0;

  /// Returns the action as a conversation; null if it has no sessions.
  [[nodiscard]] virtual const conversation_action*
  conversation() const noexcept {
    return nullptr;
  }

  /// Returns the key for the front desk. An action without a key of its own has
  /// a random one that cannot be guessed.
  [[nodiscard]] const std::string& key() const noexcept {
    return key_;
  }

  [[nodiscard]] const run_policy& runs() const noexcept {
    return runs_;
  }

  /// Returns the numbers of its connections, which these add to.
  [[nodiscard]] detail::activity& activity() const noexcept {
    return activity_;
  }

  /// Returns whether its connections are traced as spans: those of a flow are,
  /// those of a plain bidi action are not.
  [[nodiscard]] bool traced() const noexcept;

  /// Returns the name in the descriptor.
  [[nodiscard]] const std::string& name() const noexcept;

  /// Returns the descriptor; include <tertulia/descriptor.hpp> to use it.
  [[nodiscard]] const std::shared_ptr<const descriptor>& info() const noexcept {
    return info_;
  }

protected:
  /// Returns an input of the action's own type, which a derived class may
  /// refuse.
  [[nodiscard]] payload accept_input(payload value) const {
    return value;
  }

private:
  std::shared_ptr<const descriptor> info_;
  std::string key_;
  run_policy runs_;
  mutable detail::activity activity_; // atomic, and no part of its value
};

} // namespace detail

} // namespace tertulia
