// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/otlp_exporter.hpp>
#include <tertulia/trace.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tertulia::otlp {

/// Spans that wait for the collector, and the numbers of those that have left.
///
/// @threads all members.
class span_queue final : public span_sink {
public:
  using batch = std::vector<std::shared_ptr<const span_data>>;

  /// @param max_size  maximum number of spans.
  /// @param max_batch maximum number of spans in a batch.
  span_queue(std::size_t max_size, std::size_t max_batch)
    : max_size_(max_size), max_batch_(max_batch) {}

  // -- span_sink --------------------------------------------------------------

  void on_start(const span_data&) noexcept override {}

  void on_end(std::shared_ptr<const span_data> x) noexcept override;

  // -- the sender -------------------------------------------------------------

  /// Sets the function that wakes the sender, on any thread.
  void set_wake_up(std::function<void()> wake_up);

  /// Returns the next batch, which counts as waiting until `count_batch`;
  /// empty if no span waits.
  [[nodiscard]] batch take();

  /// Counts the spans of the batch that was taken as sent or lost.
  /// @param lost    number that the collector has not taken.
  /// @param failure why; empty without one.
  void count_batch(std::size_t size, std::size_t lost,
                   std::string failure = {});

  /// Records that nothing is sent any more.
  void end();

  // -- the owner --------------------------------------------------------------

  /// Makes the sender send what waits, and end after that.
  void close();

  [[nodiscard]] bool is_closed() const;

  bool flush(caf::timespan within);

  [[nodiscard]] otlp_exporter::counts count() const;

  [[nodiscard]] std::string last_failure() const;

private:
  void wake();

  const std::size_t max_size_;
  const std::size_t max_batch_;
  mutable std::mutex mutex_;
  std::condition_variable count_change_;
  batch waiting_;
  std::uint64_t accepted_ = 0; ///< number of spans that have waited
  std::size_t under_way_ = 0;
  bool is_closed_ = false;
  bool has_ended_ = false;
  bool is_woken_ = false;
  std::function<void()> wake_up_;
  otlp_exporter::counts counts_;
  std::string failure_;
};

} // namespace tertulia::otlp
