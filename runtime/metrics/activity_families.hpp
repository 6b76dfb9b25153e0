// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/activity.hpp>

#include <vector>

#include <prometheus/metric_family.h>

namespace tertulia {

/// Adds the numbers of actions as metrics of Prometheus. An action that was
/// never opened has none.
void append_families(std::vector<prometheus::MetricFamily>& to,
                     const std::vector<action_activity>& from);

/// Appends those of shared actors.
void append_families(std::vector<prometheus::MetricFamily>& to,
                     const std::vector<shared_actor_activity>& from);

} // namespace tertulia
