// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/trace.hpp>

namespace tertulia {

struct descriptor;

} // namespace tertulia

namespace tertulia::detail {

/// Says on the span of a connection what its action is.
/// @design docs/engine.md#tracing.
void describe_action(span& to, const descriptor& of);

} // namespace tertulia::detail
