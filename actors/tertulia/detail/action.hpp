// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/action.hpp>
#include <tertulia/payload.hpp>
#include <tertulia/task.hpp>
#include <tertulia/uuid.hpp>

#include <string>
#include <utility>

namespace tertulia {

class context;

namespace detail {

class conversation_action;

/// What the engine knows of a defined action, whatever its types.
///
/// @threads immutable; shared by the registry and every connection to it, so
///          the user's callable lives as long as any body of it runs.
class action {
public:
  /// @param info without a key for an action that is not to be found by it.
  explicit action(descriptor info)
    : info(std::move(info)),
      key_(this->info.key.empty() ? '~' + make_uuid() : this->info.key) {}

  virtual ~action() = default;

  action(const action&) = delete;
  action& operator=(const action&) = delete;

  /// Returns `init` as the action's own type.
  /// @errors throws `invalid_argument` that names the JSON path.
  [[nodiscard]] virtual payload check_init(payload init) const = 0;

  /// Returns one input as the action's own type.
  /// @errors throws `invalid_argument` that names the JSON path.
  [[nodiscard]] virtual payload check_input(payload value) const = 0;

  /// Starts a body.
  /// @param init what `check_init` returned.
  [[nodiscard]] virtual task<payload> run(context ctx, payload init) const = 0;

  /// The action as one with sessions; null if it has none.
  [[nodiscard]] virtual const conversation_action*
  conversation() const noexcept {
    return nullptr;
  }

  /// What to say to the front desk: the key, or for an action that has none
  /// something that nobody can guess.
  [[nodiscard]] const std::string& key() const noexcept {
    return key_;
  }

  /// Whether its connections are spans: a flow's are, a bare action's not.
  [[nodiscard]] bool traced() const noexcept {
    return info.kind != "bidi-action";
  }

  const descriptor info;

private:
  std::string key_;
};

} // namespace detail

} // namespace tertulia
