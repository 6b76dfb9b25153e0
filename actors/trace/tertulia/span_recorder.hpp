// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/trace.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace tertulia {

/// A sink that keeps the spans that ended last, for tests and for a page that
/// shows the recent work of a process.
///
/// @threads  every member may be called from many threads at once.
/// @lifetime the records that it returned may outlive it.
class span_recorder : public span_sink {
public:
  using record = std::shared_ptr<const span_data>;

  /// @param capacity number of spans kept, at least 1; further ones replace the
  ///                 oldest.
  explicit span_recorder(std::size_t capacity = 1024);

  /// Returns all records in the order in which their spans ended.
  [[nodiscard]] std::vector<record> spans() const;

  /// Returns the latest record of that name, null if it does not exist.
  [[nodiscard]] record find(std::string_view name) const;

  /// Returns the records of the direct children in the order in which they
  /// ended: a parent usually ends after its children.
  [[nodiscard]] std::vector<record> children_of(span_id parent) const;

  /// Removes all records.
  void clear();

  void on_start(const span_data& x) noexcept override;

  void on_end(record x) noexcept override;

private:
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::vector<record> ring_; // grows up to the capacity, then is overwritten
  std::size_t oldest_ = 0;   // oldest record, replaced next once it is full
};

} // namespace tertulia
