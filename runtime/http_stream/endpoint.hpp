// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/http_stream.hpp>

#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "failure.hpp"
#include "io_loop.hpp"
#include "url.hpp"
#include <curl/curl.h>

namespace tertulia::http {

class transfer;

/// Connections to one server, and the requests that use them: a multi handle of
/// libcurl and the descriptors that it waits for.
///
/// @threads only on the I/O thread, except for the constructor.
class connections final : public watcher {
public:
  /// @param max_idle  maximum number of connections without a request.
  /// @param freshness time after which unused connections are closed.
  connections(io_loop& loop, std::size_t max_idle, caf::timespan freshness);

  connections(const connections&) = delete;
  connections& operator=(const connections&) = delete;

  /// @pre no request is in progress.
  ~connections();

  /// Starts a request, or queues it while the name of the server is looked up
  /// for another one: libcurl uses one thread for each lookup.
  void start(std::shared_ptr<transfer> x);

  /// Removes a request that has ended, for any reason.
  void remove(transfer& x);

  /// Continues the oldest queued request once libcurl knows the addresses of
  /// the server, which it then keeps for a minute.
  void name_found(const transfer& x) noexcept {
    if (looking_up_ == &x)
      looking_up_ = nullptr;
  }

  /// Notes that a request must end although libcurl would continue it.
  /// Callbacks of libcurl cannot remove it themselves.
  void doom(transfer& x) {
    doomed_.push_back(&x);
  }

  /// Ends all queued requests, because the name of the server is unknown.
  void fail_queue(const std::exception_ptr& failure);

  /// Continues a request that was paused.
  void resume(transfer& x);

private:
  struct multi_deleter {
    void operator()(CURLM* x) const {
      curl_multi_cleanup(x);
    }
  };

  static int on_socket(CURL*, curl_socket_t fd, int what, void* self,
                       void* known);
  static int on_timer(CURLM*, long milliseconds, void* self);

  void on_ready() override;
  void on_due();
  void open_multi();
  void act(curl_socket_t fd, int events);

  /// Ends the requests that libcurl reports as done and those that a callback
  /// refused, and starts queued ones, until nothing is left to do.
  void drain_events();

  /// Handles one such event.
  /// @returns false if there was none.
  bool handle_event();

  void start_next();
  void keep_idle();

  std::size_t max_idle_;
  caf::timespan freshness_;
  file_descriptor epoll_;
  io_loop& loop_;
  bool is_watched_ = false;
  bool is_draining_ = false;
  timer due_;
  timer stale_;
  std::unique_ptr<CURLM, multi_deleter> multi_; // before what its callbacks use
  std::unordered_map<transfer*, std::shared_ptr<transfer>> active_;
  std::deque<std::shared_ptr<transfer>> queue_;
  std::vector<transfer*> doomed_;
  const transfer* looking_up_ = nullptr;
};

/// Checks a request, so that no text of it can become a line of its own.
/// @errors throws `invalid_argument`.
void check(const http_request& x);

/// Server of a client: its options, as they are used, and its connections.
///
/// @threads never changes; `lines` is used only on the I/O thread.
struct endpoint {
  /// @param freshness time after which unused connections are closed. Servers
  ///                  close theirs after about a minute.
  /// @errors see `http_client`.
  explicit endpoint(http_options with,
                    caf::timespan freshness = std::chrono::seconds{30});

  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;
  ~endpoint();

  http_options options;
  url server;
  std::optional<url> proxy;
  std::string no_proxy; // servers that are reached without the proxy
  std::string
    certificates;      // trusted ones as PEM; empty for those of the system
  std::string ca_file; // those of the system, if the environment names them
  std::string ca_folder;
  secrets hidden; // texts that errors must not contain
  std::shared_ptr<io_thread> io;
  std::shared_ptr<connections> lines;
};

} // namespace tertulia::http
