// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/state.hpp>
#include <tertulia/stored_type.hpp>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace tertulia::detail {

/// Conversion of a value from one version to the next.
struct migration {
  migration(std::uint32_t from, std::function<void(json&)> step)
    : from(from), step(std::move(step)) {}

  std::uint32_t from;
  std::function<void(json&)> step;
};

/// Type of the states of an agent, and the migration of older states to it.
///
/// @threads immutable; the steps are called by many sessions at once.
/// @design  docs/sessions.md#states-that-evolve.
class state_schema {
public:
  /// Makes the schema of a type without name and migrations, in version 1.
  state_schema() = default;

  /// @errors throws `invalid_argument` unless the steps, in any order, lead
  ///         from some version to the known one without a gap.
  state_schema(stored_type known, std::vector<migration> steps);

  [[nodiscard]] const stored_type& known() const noexcept {
    return known_;
  }

  /// Refuses the type of a state that cannot be converted to the known type.
  /// @errors throws `failed_precondition`: its version is newer than the known
  ///         one or older than the oldest step, or its name differs.
  void check(const stored_type& stored) const;

  /// Returns a state from a store, converted to the known type.
  /// @errors as `check`; errors of a step, as `internal` for an exception that
  ///         is not a `status_error`.
  [[nodiscard]] state adopt(state stored) const;

private:
  stored_type known_;
  std::uint32_t oldest_ = 1; ///< version from which the first step leads on
  std::vector<std::function<void(json&)>> steps_;
};

} // namespace tertulia::detail
