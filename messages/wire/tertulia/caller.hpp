// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/identifier.hpp>

#include <cstddef>

// Callers, such as the users whom a server has authenticated, and what is
// theirs.

namespace tertulia {

/// Maximum length of the name of a caller, in bytes.
inline constexpr std::size_t max_caller_name = 128;

/// Rejects a name that a caller cannot have: an empty or a long one, one that
/// contains a slash or a NUL, and one that is not UTF-8.
/// @errors throws `invalid_argument`.
void check_caller(const caller_name& x);

/// Returns the session that a caller means by an id: all sessions of a caller
/// begin with its name and a slash, so it cannot name those of others.
/// @param x with or without the name of the caller; `errands` and
///          `ann/errands` are the same for `ann`.
/// @design docs/sessions.md#callers.
[[nodiscard]] session_id session_of(const caller_name& caller,
                                    const session_id& x);

/// Returns whether a session is one of this caller.
[[nodiscard]] bool owns(const caller_name& caller, const session_id& x);

} // namespace tertulia
