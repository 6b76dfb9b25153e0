// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/metrics.hpp>

#include "activity_families.hpp"
#include "span_meter.hpp"
#include <prometheus/text_serializer.h>

namespace tertulia {

namespace {

std::string text_of(const span_meter& meter, const runtime& of) {
  auto all = meter.collect();
  append_families(all, of.activity());
  append_families(all, of.shared_activity());
  return prometheus::TextSerializer{}.Serialize(all);
}

} // namespace

metrics::metrics(runtime& rt)
  : runtime_(&rt), meter_(std::make_shared<span_meter>()),
    listening_(rt.traces().listen(meter_)) {}

metrics::~metrics() = default;

std::string metrics::text() const {
  return text_of(*meter_, *runtime_);
}

std::function<std::string()> metrics::reader() const {
  return [meter = meter_, of = runtime_] { return text_of(*meter, *of); };
}

prometheus::Registry& metrics::registry() const noexcept {
  return meter_->registry();
}

} // namespace tertulia
