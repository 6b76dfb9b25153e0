// SPDX-License-Identifier: BSD-3-Clause

#include "activity_families.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <utility>

namespace tertulia {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily family(MetricType type, const char* name, const char* help) {
  MetricFamily result;
  result.name = name;
  result.help = help;
  result.type = type;
  return result;
}

/// Adds a metric of an action.
/// @param name, value a further label; null without one.
ClientMetric& add(MetricFamily& to, const action_activity& x,
                  const char* name = nullptr, const char* value = nullptr) {
  auto& result = to.metric.emplace_back();
  result.label.push_back({"action", x.key});
  if (name != nullptr)
    result.label.push_back({name, value});
  return result;
}

double seconds(std::chrono::nanoseconds x) {
  return std::chrono::duration<double>{x}.count();
}

double number(std::uint64_t x) {
  return static_cast<double>(x);
}

void set(ClientMetric& to, const duration_counts& x) {
  auto& histogram = to.histogram;
  histogram.sample_sum = seconds(x.total);
  for (std::size_t i = 0; i < x.counts.size(); ++i) {
    histogram.sample_count += x.counts[i];
    histogram.bucket.push_back(
      {histogram.sample_count, i < duration_counts::bounds.size()
                                 ? duration_counts::bounds[i]
                                 : std::numeric_limits<double>::infinity()});
  }
}

constexpr const char* events[]
  = {"turn_end", "tool_iteration_end", "invocation_end"};

} // namespace

void append_families(std::vector<MetricFamily>& to,
                     const std::vector<action_activity>& from) {
  auto opened = family(MetricType::Counter, "tertulia_connections_total",
                       "Connections to actions that were opened");
  auto open = family(MetricType::Gauge, "tertulia_connections_open",
                     "Connections to actions that are open");
  auto waits = family(MetricType::Counter, "tertulia_credit_waits_total",
                      "Waits of a body for credit of its client");
  auto waited
    = family(MetricType::Counter, "tertulia_credit_wait_seconds_total",
             "Time for which a body waited for credit of its client");
  auto snapshots = family(MetricType::Counter, "tertulia_snapshots_total",
                          "Snapshots that were stored, by their event");
  auto failures = family(MetricType::Counter, "tertulia_store_failures_total",
                         "Saves of sessions and snapshots that have failed");
  auto store = family(MetricType::Histogram, "tertulia_store_duration_seconds",
                      "Durations of openings and saves of sessions");
  for (const auto& x : from) {
    if (x.opened == 0)
      continue;
    add(opened, x).counter.value = number(x.opened);
    add(open, x).gauge.value = number(x.opened - std::min(x.ended, x.opened));
    add(waits, x).counter.value = number(x.credit_waits);
    add(waited, x).counter.value = seconds(x.credit_wait);
    if (x.session_openings.total.count() == 0)
      continue; // it has no store
    for (std::size_t i = 0; i < x.snapshots.size(); ++i)
      add(snapshots, x, "event", events[i]).counter.value
        = number(x.snapshots[i]);
    add(failures, x).counter.value = number(x.failed_saves);
    set(add(store, x, "operation", "open"), x.session_openings);
    set(add(store, x, "operation", "save"), x.saves);
  }
  for (auto* one :
       {&opened, &open, &waits, &waited, &snapshots, &failures, &store})
    to.push_back(std::move(*one));
}

void append_families(std::vector<MetricFamily>& to,
                     const std::vector<shared_actor_activity>& from) {
  auto waiting = family(MetricType::Gauge, "tertulia_mailbox_messages",
                        "Messages in the mailboxes of shared actors");
  auto commits = family(MetricType::Counter, "tertulia_store_commits_total",
                        "Transactions that the stores have committed");
  std::uint64_t committed = 0;
  for (const auto& x : from) {
    auto& metric = waiting.metric.emplace_back();
    metric.label.push_back({"actor", x.name});
    metric.gauge.value = number(x.waiting);
    committed += x.commits;
  }
  commits.metric.emplace_back().counter.value = number(committed);
  to.push_back(std::move(waiting));
  to.push_back(std::move(commits));
}

} // namespace tertulia
