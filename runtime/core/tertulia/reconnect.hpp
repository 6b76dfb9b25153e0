// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/timespan.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace tertulia {

/// Address of a published runtime.
///
/// @threads a value.
struct endpoint {
  std::string host;
  std::uint16_t port = 0;
};

/// Attempts to reach a node again after the link to it was lost: of the clients
/// of kept runs, which come back, and of calls that need the node. Pauses
/// between attempts are doubled, and up to half of each is cut at random.
///
/// @threads a value.
/// @design  docs/runs.md#lost-links.
struct reconnect_policy {
  /// Time for which a client tries, from the loss on, or a call; calls wait
  /// meanwhile and then throw `unavailable`. Zero: there is one attempt.
  caf::timespan patience = std::chrono::seconds{30};
  caf::timespan first_pause = std::chrono::milliseconds{50};
  caf::timespan longest_pause = std::chrono::seconds{2};
};

} // namespace tertulia
