// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace tertulia::openai {

/// Finds the addresses of one host.
///
/// What the system offers for it blocks, for as long as it likes, so that runs
/// on a thread which is left behind by who cannot wait. There is at most one at
/// a time: who comes meanwhile waits for the same answer.
///
/// @threads only on the I/O thread.
class name_search {
public:
  using clock = std::chrono::steady_clock;
  using addresses = std::vector<boost::asio::ip::tcp::endpoint>;

  /// Blocks until it knows them.
  /// @errors throws `boost::system::system_error`.
  using look_up = std::function<addresses(const std::string& host,
                                          const std::string& port)>;

  /// Asks the system.
  static addresses ask_system(const std::string& host, const std::string& port);

  /// @param at must be running while somebody waits.
  name_search(std::weak_ptr<boost::asio::io_context> at, std::string host,
              std::string port, look_up how = ask_system);

  /// Waits for the addresses.
  /// @errors throws `boost::system::system_error`: `timed_out` if they are not
  ///         known in time, else what the search says.
  boost::asio::awaitable<addresses> find(clock::time_point deadline);

private:
  struct search;

  std::shared_ptr<search> start();

  // Not shared: work that waits there has a share in us.
  std::weak_ptr<boost::asio::io_context> at_;
  std::string host_;
  std::string port_;
  look_up how_;
  std::weak_ptr<search> under_way_;
};

} // namespace tertulia::openai
