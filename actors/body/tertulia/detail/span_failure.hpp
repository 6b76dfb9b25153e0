// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/status_error.hpp>
#include <tertulia/trace.hpp>

namespace tertulia::detail {

/// Marks the work of a span as failed. A tool that waits for a person has not
/// failed: its question becomes the event `interrupted`.
void note_failure(span& to, const status_error& x);

} // namespace tertulia::detail
