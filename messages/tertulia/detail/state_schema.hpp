// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/state.hpp>
#include <tertulia/stored_type.hpp>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace tertulia::detail {

/// Makes one version of a value into the next.
struct migration {
  migration(std::uint32_t from, std::function<void(json&)> step)
    : from(from), step(std::move(step)) {}

  std::uint32_t from;
  std::function<void(json&)> step;
};

/// Which type the states of an agent have, and how older ones become such.
///
/// @threads immutable; the steps are called by many sessions at once.
/// @design  README §5.16 "States that evolve".
class state_schema {
public:
  /// That of a type that says nothing, without steps.
  state_schema() = default;

  /// @errors throws `invalid_argument` unless the steps, in any order, lead
  ///         from some version to the one that is known, without a gap.
  state_schema(stored_type known, std::vector<migration> steps);

  [[nodiscard]] const stored_type& known() const noexcept {
    return known_;
  }

  /// Refuses what cannot become a state of the known type.
  /// @errors throws `failed_precondition`: it is newer, or of another name, or
  ///         older than the oldest step.
  void check(const stored_type& stored) const;

  /// Returns a state that came from a store as one of the known type.
  /// @errors as `check`; what a step throws, as `internal` if it is no
  ///         `status_error`.
  [[nodiscard]] state adopt(state stored) const;

private:
  stored_type known_;
  std::uint32_t oldest_ = 1; ///< version of which `steps_` has the first step
  std::vector<std::function<void(json&)>> steps_;
};

} // namespace tertulia::detail
