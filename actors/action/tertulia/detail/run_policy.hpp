// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/run.hpp>

#include <caf/timespan.hpp>

namespace tertulia::detail {

/// Policy for the runs of an action whose clients choose none.
///
/// @threads a value.
struct run_policy {
  on_disconnect disconnect = on_disconnect::cancel;
  caf::timespan grace{0}; ///< of a kept run; 0 for ever
};

} // namespace tertulia::detail
