// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>
#include <tertulia/trace.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "message/channel.hpp"

namespace tertulia::web {

/// Returns the spans of one trace as Genkit's telemetry server reads them.
/// @pre the spans are of one trace.
[[nodiscard]] json
genkit_trace(const std::vector<std::shared_ptr<const span_data>>& spans);

/// Spans on their way to Genkit's telemetry server.
///
/// Spans are lost if there is no server, if it does not answer in a second, or
/// if there are too many: telemetry must not hold a program up.
///
/// @threads all members.
class genkit_telemetry final : public span_sink {
public:
  /// @param url of the server; may be empty.
  /// @param sends_starts whether spans are sent when they start, too.
  genkit_telemetry(std::string url, bool sends_starts)
    : is_fixed_(!url.empty()), sends_starts_(sends_starts),
      url_(std::move(url)) {}

  /// Sets the server, unless it was chosen before.
  void suggest(const std::string& url);

  void on_start(const span_data& x) noexcept override;

  void on_end(std::shared_ptr<const span_data> x) noexcept override;

  /// Sends what waits. The command line reads a trace as soon as it has the
  /// result of an action.
  net::awaitable<void> flush();

private:
  void add(std::shared_ptr<const span_data> x) noexcept;

  const bool is_fixed_;
  const bool sends_starts_;
  std::mutex mutex_;
  std::string url_;
  std::vector<std::shared_ptr<const span_data>> waiting_;
  std::size_t under_way_ = 0; ///< number of batches
};

} // namespace tertulia::web
