// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "connection.hpp"

namespace tertulia::openai {

/// Connections to one destination that wait for their next request.
///
/// @threads only on the I/O thread.
class connection_pool {
public:
  explicit connection_pool(std::size_t max_size) : max_size_(max_size) {}

  /// Returns the one that was used last, which is most likely alive; null if
  /// there is none that is fresh.
  std::unique_ptr<connection> take();

  /// Keeps a connection unless there are enough.
  void give(std::unique_ptr<connection> x);

private:
  std::size_t max_size_;
  std::vector<std::unique_ptr<connection>> idle_; // oldest first
};

} // namespace tertulia::openai
