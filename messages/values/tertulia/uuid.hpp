// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>

namespace tertulia {

/// Returns a random UUID (RFC 9562, version 4) in lower-case text form: 36
/// characters. A forked process does not repeat the UUIDs of its parent.
///
/// @threads any.
[[nodiscard]] std::string make_uuid();

} // namespace tertulia
