// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/context.hpp>
#include <tertulia/http_options.hpp>
#include <tertulia/status.hpp>
#include <tertulia/task.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tertulia {

namespace http {

struct endpoint;

} // namespace http

/// Client of one HTTP server, with its connections. Copies share them.
///
/// One thread serves all clients of a process. A name lookup takes one more
/// thread, at most one at a time for each client.
///
/// @threads thread-safe.
/// @design  docs/models.md#a-model-adapter.
class http_client {
public:
  /// @errors throws `invalid_argument` for invalid options; `not_found` if
  ///         `ca_file` is missing, `failed_precondition` if it is a folder.
  explicit http_client(http_options options);

  [[nodiscard]] const http_options& options() const noexcept;

  /// Returns the host of the server, with its port unless that is the port of
  /// the scheme.
  [[nodiscard]] std::string authority() const;

  /// Returns the error in a form that may be reported: short, in UTF-8, and
  /// without secrets in its message. Its details must not contain any.
  [[nodiscard]] status_error presentable(const status_error& x) const;

private:
  friend class http_stream;

  std::shared_ptr<http::endpoint> endpoint_;
};

/// Request to a server.
///
/// @threads a value.
struct http_request {
  /// @param path is appended to the base URL of the client, such as
  ///             `/messages?limit=1`.
  /// @param body is sent as `application/json`, unless `headers` say otherwise.
  explicit http_request(std::string method, std::string path,
                        std::string body = {}, http_fields headers = {})
    : method(std::move(method)), path(std::move(path)), body(std::move(body)),
      headers(std::move(headers)) {}

  std::string method;
  std::string path;
  std::string body;
  http_fields headers; // not secret
};

/// Status and header of an answer.
///
/// @threads a value.
struct http_head {
  unsigned status = 0;
  http_fields fields; // names in lower case

  /// Time that the server asks for before a retry; zero if it does not.
  std::chrono::seconds retry_after{0};

  /// Returns the first value of a field; empty if it is missing.
  /// @param name in lower case.
  [[nodiscard]] std::string_view field(std::string_view name) const;
};

/// Server-sent event.
///
/// @threads a value.
struct http_event {
  std::string name; // `message` if the server gave none
  std::string data; // its lines, separated by line feeds

  bool operator==(const http_event&) const = default;
};

/// Request of a body, and its answer, which is read as it arrives.
///
/// ```
/// http_stream answer{ctx, server};
/// co_await answer.post("/messages", std::move(text));
/// while (auto event = co_await answer.next_event())
///   …
/// ```
///
/// Data that the body does not read is not read from the server, except for a
/// few kilobytes. A cancel of the body and the destructor close the connection
/// unless the answer is complete.
///
/// All waits end with the errors of the server and the network, without
/// secrets:
///
/// | code | if |
/// | --- | --- |
/// | `invalid_argument` | 400, 413, 422 |
/// | `unauthenticated` | 401 |
/// | `permission_denied` | 403, 407; a certificate that is not trusted |
/// | `not_found` | 404 |
/// | `aborted` | 409 |
/// | `resource_exhausted` | 429 after all retries; an answer beyond a limit |
/// | `failed_precondition` | any other status below 500, such as 302 |
/// | `internal` | 500 after all retries |
/// | `unimplemented` | 501 |
/// | `unavailable` | 502-504 after all retries; above; no or lost connection |
/// | `deadline_exceeded` | 408; one of the time-outs |
/// | `data_loss` | not HTTP, not events, or encoded (gzip) |
///
/// If the reason is a status other than 2xx, the details contain it as
/// `status`, and the server's message, if any, as `error`.
///
/// @threads  only on the actor of its body.
/// @lifetime valid while the body runs.
/// @design   docs/models.md#a-model-adapter.
class http_stream {
public:
  http_stream(context ctx, const http_client& client);
  http_stream(const http_stream&) = delete;
  http_stream& operator=(const http_stream&) = delete;
  ~http_stream();

  /// Sends a request, with retries, until an answer with a status of 2xx
  /// begins. Redirects are not followed. Closes the previous answer. If the
  /// body is traced, the request has a `traceparent` (W3C), unless its fields
  /// or those of the client have one.
  /// @returns the header of the answer.
  task<http_head> open(http_request request);

  /// Same as `open`, with the method `POST`.
  task<http_head> post(std::string path, std::string body);

  /// Waits for the next bytes of the answer.
  /// @returns the bytes; empty at the end.
  task<std::string> read();

  /// Waits for the next event of an answer of the type `text/event-stream`.
  /// @returns the event; empty at the end.
  task<std::optional<http_event>> next_event();

  /// Ends the answer, whose rest is not needed, and keeps its connection for
  /// the next request if the rest is short and arrives soon.
  void finish();

private:
  struct impl;

  std::unique_ptr<impl> impl_;
};

} // namespace tertulia
