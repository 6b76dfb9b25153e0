// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/context.hpp>
#include <tertulia/detail/action.hpp>

#include <memory>
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
    return this->accept_input(
      std::move(value).template as<typename Kind::in_type>());
  }

  task<payload> start_body(context ctx, payload init) const override {
    return Kind::start(body, ctx, std::move(init));
  }

  const body_type body;
};

/// Makes an action with a body. Not with `std::make_shared`, which is compiled
/// anew for each body.
/// @param xs the arguments of `Kind::base_type`.
template <class Kind, class... Ts>
auto make_body_action(typename Kind::body_type body, Ts&&... xs) {
  using engine_type = typename Kind::base_type::engine_type;
  std::unique_ptr<const engine_type> result{
    new body_action<Kind>(std::move(body), std::forward<Ts>(xs)...)};
  return std::shared_ptr<const engine_type>{std::move(result)};
}

} // namespace tertulia::detail
