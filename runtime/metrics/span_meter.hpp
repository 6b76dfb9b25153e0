// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/trace.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

namespace tertulia {

/// Sink that counts and measures spans.
///
/// @threads all members.
class span_meter final : public span_sink {
public:
  span_meter();

  void on_start(const span_data& x) noexcept override;

  void on_end(std::shared_ptr<const span_data> x) noexcept override;

  [[nodiscard]] prometheus::Registry& registry() noexcept {
    return registry_;
  }

  [[nodiscard]] std::vector<prometheus::MetricFamily> collect() const {
    return registry_.Collect();
  }

private:
  using counters = prometheus::Family<prometheus::Counter>;
  using gauges = prometheus::Family<prometheus::Gauge>;
  using histograms = prometheus::Family<prometheus::Histogram>;

  void count_run(const span_data& x);
  void count_turn(const span_data& x);
  void count_request(const span_data& x);
  void count_tokens(const span_data& x, const std::string& model);

  /// Returns the value of a label for the key of an action.
  std::string label_for(const std::string& key);

  static void observe(histograms& to, const prometheus::Labels& labels,
                      const span_data& x);

  prometheus::Registry registry_;
  counters& runs_;
  gauges& open_runs_;
  histograms& run_seconds_;
  histograms& turn_seconds_;
  counters& tokens_;
  counters& requests_;
  histograms& request_seconds_;
  std::mutex mutex_;
  std::set<std::string> keys_;          ///< that have a label
  std::map<span_id, std::string> open_; ///< labels of runs that have begun
};

} // namespace tertulia
