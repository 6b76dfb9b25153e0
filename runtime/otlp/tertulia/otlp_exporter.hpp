// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/http_options.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/trace.hpp>

#include <caf/timespan.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tertulia {

/// Options of an `otlp_exporter`, with their defaults.
struct otlp_options {
  otlp_options();

  /// Returns the defaults, changed by the variables of OpenTelemetry:
  /// `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`,
  /// `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME` and
  /// `OTEL_RESOURCE_ATTRIBUTES`.
  /// @errors throws `invalid_argument` for a list that cannot be read, and if
  ///         `OTEL_EXPORTER_OTLP_PROTOCOL` is `grpc`.
  static otlp_options from_environment();

  /// Returns whether the environment names a collector, and does not switch
  /// traces off (`OTEL_SDK_DISABLED`).
  [[nodiscard]] static bool are_in_environment();

  /// Address of the collector, `http://127.0.0.1:4318`, and what is needed to
  /// reach it.
  http_options collector;

  /// Path below `collector.base_url` to which batches are posted.
  std::string path = "/v1/traces";

  /// Name of the program, as `service.name`.
  std::string service_name = "tertulia";

  /// Further attributes of the program, such as `service.version`.
  std::vector<attribute> resource{};

  /// Maximum number of spans that wait for the collector; further ones are
  /// dropped and counted.
  std::size_t max_queue = 8'192;

  /// Maximum number of spans in one request.
  std::size_t max_batch = 512;

  /// Longest time for which a span waits for others.
  caf::timespan interval = std::chrono::seconds{1};

  /// Time for which the destructor lets waiting spans be sent.
  caf::timespan flush_within = std::chrono::seconds{5};
};

namespace otlp {

class sender;

} // namespace otlp

/// Sends the spans of a runtime to a collector of OpenTelemetry (OTLP over
/// HTTP, as JSON).
///
/// ```
/// const tertulia::otlp_exporter traces{rt};
/// ```
///
/// Spans that a caller does not want sampled are left out. The end of a span
/// costs one lock; encoding and sending are the work of an actor. What the
/// collector does not take after the retries of `http_options` is lost, and
/// counted.
///
/// @threads  all members.
/// @lifetime must not outlive its runtime. The destructor blocks for
///           `flush_within` at most.
/// @design   docs/observability.md.
class otlp_exporter {
public:
  /// @errors throws `invalid_argument` for options that make no sense.
  explicit otlp_exporter(runtime& rt, otlp_options options = {});

  otlp_exporter(const otlp_exporter&) = delete;
  otlp_exporter& operator=(const otlp_exporter&) = delete;

  ~otlp_exporter();

  /// Numbers of spans since the begin.
  struct counts {
    std::uint64_t sent = 0;    ///< the collector has them
    std::uint64_t dropped = 0; ///< the queue was full
    std::uint64_t lost = 0;    ///< the collector has not taken them
  };

  [[nodiscard]] counts count() const;

  /// Returns why the collector did not take the last batch that was lost, for
  /// people; empty if none was lost.
  [[nodiscard]] std::string last_failure() const;

  /// Waits until all spans that have ended were sent or lost. Blocks.
  /// @returns false if the time is over before.
  bool flush(caf::timespan within);

private:
  std::unique_ptr<otlp::sender> sender_;
};

} // namespace tertulia
