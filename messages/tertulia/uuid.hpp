// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>

namespace tertulia {

/// Makes a random UUID (RFC 9562, version 4) in lower-case text form: 36
/// characters. A forked process makes others than its parent.
///
/// @threads any.
[[nodiscard]] std::string make_uuid();

} // namespace tertulia
