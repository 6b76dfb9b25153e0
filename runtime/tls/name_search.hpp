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

namespace tertulia::network {

/// Search for the addresses of one host.
///
/// The system's resolver blocks for an unlimited time, so it runs on a thread
/// that is left behind when a deadline passes. There is at most one lookup at a
/// time: later calls wait for its result.
///
/// @threads `find` only on the thread that runs the context.
class name_search {
public:
  using clock = std::chrono::steady_clock;
  using addresses = std::vector<boost::asio::ip::tcp::endpoint>;

  /// Lookup that blocks until the addresses are known.
  /// @errors throws `boost::system::system_error`.
  using look_up = std::function<addresses(const std::string& host,
                                          const std::string& port)>;

  /// Looks the host up with the system's resolver.
  static addresses ask_system(const std::string& host, const std::string& port);

  /// @param at must be running while a caller waits.
  name_search(std::weak_ptr<boost::asio::io_context> at, std::string host,
              std::string port, look_up resolver = ask_system);

  /// Waits for the addresses.
  /// @errors throws `boost::system::system_error`: `timed_out` if they are not
  ///         known in time, otherwise the error of the search.
  boost::asio::awaitable<addresses> find(clock::time_point deadline);

private:
  struct search;

  std::shared_ptr<search> start();

  // Not shared, because pending work there shares this object.
  std::weak_ptr<boost::asio::io_context> context_;
  std::string host_;
  std::string port_;
  look_up resolver_;
  std::weak_ptr<search> under_way_;
};

} // namespace tertulia::network
