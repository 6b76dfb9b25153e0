// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/timespan.hpp>

#include <chrono>
#include <cstddef>
#include <memory>

#include "connection.hpp"
#include <boost/asio/any_io_executor.hpp>

namespace tertulia::openai {

/// Connections to one destination that wait for their next request.
///
/// @threads only on the I/O thread, but for constructor and destructor.
class connection_pool {
public:
  /// @param freshness after that an idle connection is closed. Servers close
  ///                  them after a minute or so.
  connection_pool(const boost::asio::any_io_executor& at, std::size_t max_size,
                  caf::timespan freshness = std::chrono::seconds{30});

  /// Returns the one that was used last, which is most likely alive; null if
  /// there is none.
  std::unique_ptr<connection> take();

  /// Keeps a connection unless there are enough.
  void give(std::unique_ptr<connection> x);

private:
  struct shelf;

  std::shared_ptr<shelf> idle_;
};

} // namespace tertulia::openai
