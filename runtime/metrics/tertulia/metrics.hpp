// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/runtime.hpp>
#include <tertulia/trace.hpp>

#include <functional>
#include <memory>
#include <string>

namespace prometheus {

class Registry;

} // namespace prometheus

namespace tertulia {

class span_meter; // private to this room

/// Metrics of a runtime, as Prometheus reads them. They are made from its spans
/// and from the activity of its actions:
///
/// ```
/// tertulia::metrics numbers{rt};
/// tertulia::http_server web{rt, {.metrics = numbers.reader()}};
/// ```
///
/// Labels have the keys of actions, and nothing that a client chooses. Beyond
/// 1000 keys, the others share the label `other`.
///
/// @threads  all members.
/// @lifetime must not outlive its runtime.
/// @design   docs/observability.md#metrics.
class metrics {
public:
  explicit metrics(runtime& rt);

  metrics(const metrics&) = delete;
  metrics& operator=(const metrics&) = delete;

  ~metrics();

  /// Returns all metrics in Prometheus' text format, version 0.0.4.
  [[nodiscard]] std::string text() const;

  /// Returns a function that returns the text, and may outlive this object, but
  /// not the runtime.
  [[nodiscard]] std::function<std::string()> reader() const;

  /// Returns the registry, to which an application may add its own metrics.
  [[nodiscard]] prometheus::Registry& registry() const noexcept;

private:
  const runtime* runtime_;
  std::shared_ptr<span_meter> meter_;
  tracer::subscription listening_;
};

} // namespace tertulia
