// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdint>
#include <string_view>

namespace tertulia {

/// Error codes: the canonical status codes that Genkit uses.
///
/// The numbers are fixed for ever: they travel in `caf::error` and are kept in
/// stored records. Append only. "Retry" states whether the same call,
/// unchanged, may succeed later.
///
/// @threads a value.
/// @design  docs/failures.md#error-codes.
enum class errc : std::uint8_t {
  /// No error; never carried by a `caf::error`.
  ok = 0,
  /// The caller cancelled. An outcome, not a fault. No retry.
  cancelled = 1,
  /// An error of another system that has no code here. No retry.
  unknown = 2,
  /// The arguments are wrong in any state. No retry.
  invalid_argument = 3,
  /// The deadline has passed; the effect may have happened. Retry with care.
  deadline_exceeded = 4,
  /// The action, session or snapshot does not exist. No retry.
  not_found = 5,
  /// The object exists and must not. No retry.
  already_exists = 6,
  /// The caller is not allowed to do this. No retry.
  permission_denied = 7,
  /// A limit was reached: a window, a quota, a queue. Retry after a pause.
  resource_exhausted = 8,
  /// The call is not valid in the current state. Retry once the state changed.
  failed_precondition = 9,
  /// A concurrent operation won, or an actor was killed during the call. Retry
  /// from the start.
  aborted = 10,
  /// A number or position is outside its range. No retry.
  out_of_range = 11,
  /// Not offered by this action, store or node. No retry.
  unimplemented = 12,
  /// A fault in the action or in this library. No retry.
  internal = 13,
  /// The peer, node or store cannot be reached now. Retry.
  unavailable = 14,
  /// Data is damaged or missing: in a store, a file, the messages of a
  /// connection or the answer of a server. No retry.
  data_loss = 15,
  /// The caller is not authenticated. No retry.
  unauthenticated = 16,
};

/// Highest value of `errc`, for loops over all codes.
inline constexpr auto last_errc = errc::unauthenticated;

/// Returns the name of the code as written in the enum, or "unknown" for a
/// number that is not in it.
std::string_view to_string(errc code) noexcept;

} // namespace tertulia
