// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/otlp_exporter.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include "span_queue.hpp"

// OTLP over HTTP as JSON, version 1.

namespace tertulia::otlp {

/// Returns the request that hands spans to a collector.
[[nodiscard]] std::string request_text(const otlp_options& options,
                                       const span_queue::batch& spans);

/// Refusal of a part of a request.
struct refusal {
  std::size_t spans = 0;
  std::string message;
};

/// Reads the answer of a collector; no refusal in one that cannot be read.
[[nodiscard]] refusal refusal_in(std::string_view answer);

/// Reads a list `key=value,…`, whose values are URL-encoded.
/// @errors throws `invalid_argument`.
[[nodiscard]] http_fields fields_in(const std::string& variable,
                                    std::string_view text);

} // namespace tertulia::otlp
