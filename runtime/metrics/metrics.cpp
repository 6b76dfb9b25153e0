// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/metrics.hpp>

#include "span_meter.hpp"

namespace tertulia {

metrics::metrics(runtime& rt)
  : meter_(std::make_shared<span_meter>()),
    listening_(rt.traces().listen(meter_)) {}

metrics::~metrics() = default;

std::string metrics::text() const {
  return meter_->text();
}

std::function<std::string()> metrics::reader() const {
  return [meter = meter_] { return meter->text(); };
}

prometheus::Registry& metrics::registry() const noexcept {
  return meter_->registry();
}

} // namespace tertulia
