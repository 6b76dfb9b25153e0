// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/timespan.hpp>

#include <chrono>
#include <cstddef>
#include <memory>

#include "connection.hpp"
#include <boost/asio/any_io_executor.hpp>

namespace tertulia::openai {

/// Pool of idle connections to one destination.
///
/// @threads only on the I/O thread, except for constructor and destructor.
class connection_pool {
public:
  /// @param freshness time until an idle connection is closed. Servers close
  ///                  theirs after about a minute.
  connection_pool(const boost::asio::any_io_executor& at, std::size_t max_size,
                  caf::timespan freshness = std::chrono::seconds{30});

  /// Returns the connection that was used last, which is most likely still
  /// alive; null if the pool is empty.
  std::unique_ptr<connection> take();

  /// Stores a connection, or closes it if the pool is full.
  void give(std::unique_ptr<connection> x);

private:
  struct shelf;

  std::shared_ptr<shelf> idle_;
};

} // namespace tertulia::openai
