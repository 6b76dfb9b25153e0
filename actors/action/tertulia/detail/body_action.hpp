// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/context.hpp>
#include <tertulia/detail/conversation_action.hpp>

#include <concepts>
#include <utility>

namespace tertulia::detail {

/// Action with a body of the program.
///
/// @tparam Kind policy of this kind of actions:
///         - `body_type`, and `in_type`, the type of the inputs
///         - `base_type`: `action` or a class derived from it
///         - `check_init(payload, const base_type&)`: see `action::check_init`
///         - `start(const body_type&, context, payload init)`: a coroutine, see
///           `action::start_body`
template <class Kind>
class body_action final : public Kind::base_type {
public:
  using base_type = typename Kind::base_type;
  using body_type = typename Kind::body_type;

  /// @param xs the arguments of `base_type`.
  template <class... Ts>
  explicit body_action(body_type body, Ts&&... xs)
    : base_type(std::forward<Ts>(xs)...), body(std::move(body)) {}

  [[nodiscard]] payload check_init(payload init) const override {
    return Kind::check_init(std::move(init), *this);
  }

  [[nodiscard]] payload check_input(payload value) const override {
    auto result = std::move(value).template as<typename Kind::in_type>();
    if constexpr (std::derived_from<base_type, conversation_action>)
      if (this->policy.check_input)
        this->policy.check_input(result);
    return result;
  }

  task<payload> start_body(context ctx, payload init) const override {
    return Kind::start(body, ctx, std::move(init));
  }

  const body_type body;
};

} // namespace tertulia::detail
