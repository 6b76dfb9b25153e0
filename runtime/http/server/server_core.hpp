// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/http_server.hpp>

#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "io_threads.hpp"
#include "message/channel.hpp"
#include "routes/access_list.hpp"
#include "routes/route.hpp"
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

namespace tertulia::web {

using tcp = net::ip::tcp;

/// Connection of a client, for the server that holds it.
class live_session {
public:
  virtual ~live_session() = default;

  /// Ends the connection when its request is answered, at once without one.
  virtual void drain() = 0;

  /// Ends the connection at once.
  virtual void abort() = 0;
};

/// Connections that were refused since the last line about them.
struct refused_connections {
  net::ip::address peer; ///< of the last one
  unsigned status = 0;   ///< of the last one
  std::size_t count = 0;
};

/// Server behind `http_server`: accepts connections, and knows all of them.
///
/// @threads all members.
class server_core {
public:
  /// @param routes of the server, without those of its protocols.
  /// @errors as the constructor of `http_server`.
  server_core(runtime& rt, http_server_options options, route_table routes);

  server_core(const server_core&) = delete;
  server_core& operator=(const server_core&) = delete;

  virtual ~server_core();

  /// Begins to serve; once.
  void start();

  void stop();

  [[nodiscard]] route_table routes() const noexcept {
    return routes_;
  }

  /// Returns the header fields that a page of another origin may send.
  [[nodiscard]] const std::string& request_fields() const noexcept {
    return request_fields_;
  }

  /// Returns the header fields that such a page may read.
  [[nodiscard]] const std::string& answer_fields() const noexcept {
    return answer_fields_;
  }

  [[nodiscard]] runtime& actions() const noexcept {
    return runtime_;
  }

  [[nodiscard]] const http_server_options& options() const noexcept {
    return options_;
  }

  [[nodiscard]] const access_list& access() const noexcept {
    return access_;
  }

  [[nodiscard]] std::uint16_t port() const noexcept {
    return port_;
  }

  [[nodiscard]] std::string url() const;

  /// Returns whether `stop` was called.
  [[nodiscard]] bool is_stopping() const;

  /// Returns the number of open connections.
  [[nodiscard]] std::size_t connections() const;

  /// Returns the certificate for new connections; null without TLS.
  [[nodiscard]] std::shared_ptr<net::ssl::context> tls() const;

  /// Reads the certificate again.
  /// @errors as `http_server::renew_certificate`.
  void renew_certificate();

  /// Returns an action that clients may open.
  /// @errors throws `not_found`.
  [[nodiscard]] json_action find(const std::string& key) const;

  /// Checks whether a caller may use an action in this way.
  /// @param run, session as the client names them; may be empty.
  /// @errors throws `permission_denied`.
  void authorize(const std::string& caller, access_verb verb,
                 const std::string& key, const std::string& run = {},
                 const std::string& session = {}) const;

  /// Checks whether a caller may use an action with the session or the run of
  /// another caller.
  /// @param owner that caller.
  /// @errors throws `permission_denied`.
  void authorize(const std::string& caller, access_verb verb,
                 const std::string& key, const std::string& run,
                 const std::string& session, const std::string& owner) const;

  /// Returns whether a caller may answer questions of tools.
  /// @param owner caller whose session or run it is.
  [[nodiscard]] bool approves(const std::string& caller,
                              const std::string& owner, const std::string& key,
                              const std::string& run,
                              const std::string& session) const;

  /// Adds a connection.
  /// @returns false if the server stops.
  [[nodiscard]] bool add(live_session& x);

  /// Ends to count a connection, which has no session.
  /// @param from address of its client.
  void forget(const net::ip::address& from);

  /// Removes a connection.
  /// @param from address of its client.
  void remove(live_session& x, const net::ip::address& from);

private:
  net::awaitable<void> accept_all();

  /// Waits until no kept run is in a turn.
  void wait_for_runs(clock::time_point until);

  /// Counts a connection.
  /// @returns the status with which it is refused; 0 if it is admitted.
  [[nodiscard]] unsigned admit(const net::ip::address& from);

  /// Records a connection that is refused.
  /// @returns the answer to its client; empty with TLS, where it has none.
  /// @threads that which accepts.
  [[nodiscard]] std::string refuse(const net::ip::address& from,
                                   unsigned status);

  runtime& runtime_;
  const http_server_options options_;
  const std::vector<route> routes_;
  const std::string request_fields_;
  const std::string answer_fields_;
  const access_list access_;
  mutable std::mutex mutex_;
  std::mutex join_mutex_; ///< held while the threads end
  std::condition_variable changed_;
  bool is_stopping_ = false;      ///< whether `stop` was called
  bool is_draining_ = false;      ///< whether nothing is accepted
  clock::time_point drain_until_; ///< end of the time for turns
  std::size_t connections_ = 0;
  std::map<net::ip::address, std::size_t> by_address_;
  std::unordered_set<live_session*> sessions_;
  refused_connections refused_; ///< that are not logged yet
  clock::time_point next_refusal_log_;
  std::uint16_t port_ = 0;
  std::shared_ptr<net::ssl::context> tls_;
  // Destroyed first: its coroutines use the members above.
  io_threads io_;
  tcp::acceptor acceptor_;
};

} // namespace tertulia::web
