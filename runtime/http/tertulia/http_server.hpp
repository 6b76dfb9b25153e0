// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/access_request.hpp>
#include <tertulia/runtime.hpp>

#include <caf/timespan.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/describe/enum.hpp>

namespace spdlog {

class logger;

} // namespace spdlog

namespace tertulia {

/// Bearer token of a caller.
struct bearer_token {
  std::string caller; ///< name of the caller, which owns what it opens
  std::string token;  ///< at least 16 characters
};

/// Answer of a caller to a question of a tool, on which `approve` decides.
struct approval_request {
  std::string caller;  ///< name of the approver
  std::string owner;   ///< caller whose session or run it is
  std::string key;     ///< of the action
  std::string run;     ///< may be empty
  std::string session; ///< with the name of its owner; may be empty
};

/// Kind of a value that leaves a server.
enum class outgoing_kind : std::uint8_t {
  chunk,  ///< One chunk of a run.
  output, ///< Output of a run.
  error,  ///< Error: `status`, `message` and `details`.
  stored, ///< Answer with sessions, snapshots or their states, or with runs.
};

BOOST_DESCRIBE_ENUM(outgoing_kind, chunk, output, error, stored)

/// Value that leaves a server, as `redact` is told of it.
struct outgoing_value {
  std::string caller; ///< empty without tokens
  std::string key;    ///< of the action; empty for an error without one
  outgoing_kind kind = outgoing_kind::chunk;
};

namespace web {

class server_core;
struct protocol;

} // namespace web

/// Protocol that a server can speak beside its own, such as
/// `genkit_protocol()`; made by this library.
/// @lifetime that of the program.
using http_protocol = std::reference_wrapper<const web::protocol>;

/// Options of an `http_server`, with their defaults.
struct http_server_options {
  /// Address of the interface. Beyond the loopback interface a server needs
  /// `tokens` or `authenticate`, and a `certificate` or `behind_proxy`.
  std::string address = "127.0.0.1";

  /// Port; 0 picks a free one.
  std::uint16_t port = 0;

  /// Keys of the actions that clients may open, such as `/bidi-flow/echo`; `*`
  /// at the end stands for every rest. An action that is not among them does
  /// not exist for a client.
  std::vector<std::string> expose = default_exposure();

  /// Protocols that the server speaks beside its own, on routes of their own;
  /// each of them once.
  std::vector<http_protocol> protocols{};

  /// Tokens of the callers; without any, and without `authenticate`, everyone
  /// is served. A caller reaches its own sessions and runs only: see
  /// `with_caller`.
  std::vector<bearer_token> tokens{};

  /// Function that returns the name of the caller of a token that is not among
  /// `tokens`, or nothing; called on threads of the server, so it must not
  /// block. A token for which it throws is refused. See `jwt_verifier`. Null:
  /// there are no other tokens.
  std::function<std::optional<std::string>(std::string_view token)> authenticate
    = nullptr;

  /// Function that decides on an access, called on threads of the server. An
  /// access that is not allowed is answered with 403, and so is one for which
  /// the function throws. Null: every access to what is exposed is allowed.
  access_rule authorize = nullptr;

  /// Function that decides who answers questions of tools, called on threads of
  /// the server; see docs/server.md#approvers. It is refused if the function
  /// throws. Null: callers answer in their own sessions.
  std::function<bool(const approval_request&)> approve = nullptr;

  /// Function that changes what leaves the server, for example removes what is
  /// secret; called by many threads at once. If it throws, the client gets
  /// `internal` in place of the value. Exports are refused, because a changed
  /// one cannot be imported. Null: nothing is changed.
  std::function<void(const outgoing_value&, json&)> redact = nullptr;

  /// Origins of the pages that browsers may serve from elsewhere, such as
  /// `https://example.org`; `*` is every origin.
  std::vector<std::string> origins{};

  /// Names of this host that a browser may use, beside `localhost` and the
  /// address. They are checked on the loopback interface, because a page can
  /// give its own name that address.
  std::vector<std::string> hosts{};

  /// PEM files of a certificate, followed by those of its issuers, and of its
  /// key: the server speaks TLS (1.2 or 1.3) then. Empty: it does not.
  std::string certificate{};
  std::string key{};

  /// Whether a proxy in front of the server encrypts the traffic.
  bool behind_proxy = false;

  /// Number of threads that serve connections: they move bytes and run the
  /// actors of requests, those of a conversation usually on the thread of its
  /// connection. One thread takes the least processor time for a call; as many
  /// threads as cores answer the most calls per second. After a slow body
  /// actors run on CAF's threads for a while.
  std::size_t threads = 1;

  /// Maximum number of connections; further ones are answered with 503.
  std::size_t max_connections = 20'000;

  /// Maximum number of connections from one address; further ones are answered
  /// with 429.
  std::size_t max_connections_per_address = 20'000;

  /// Maximum size of a header in bytes; a larger one is answered with 431.
  std::uint32_t max_header = 16 * 1'024;

  /// Maximum size in bytes of the body of a request, and of a message of a
  /// WebSocket; a larger one is answered with 413, or ends the WebSocket with
  /// code 1009.
  std::size_t max_body = std::size_t{1'024} * 1'024;

  /// Time in which a request must be complete.
  caf::timespan request_within = std::chrono::seconds{30};

  /// Time for which a connection waits for the next request.
  caf::timespan idle_within = std::chrono::seconds{75};

  /// Time in which a client must take what is written to it.
  caf::timespan write_within = std::chrono::seconds{30};

  /// Time for which a run waits for its client, if the client does not choose.
  caf::timespan grace = std::chrono::minutes{1};

  /// Longest time that a client may choose for that. A run that a client of
  /// another protocol leaves behind ends after it; zero for never.
  caf::timespan max_grace = std::chrono::hours{24};

  /// Time for which `stop` and the destructor go on to serve while
  /// `GET /readyz` answers 503: time for a load balancer to stop sending
  /// requests.
  caf::timespan stop_delay{0};

  /// Time for which `stop` and the destructor let turns end.
  caf::timespan drain_within = std::chrono::seconds{10};

  /// Function that returns the text for `GET /metrics`, such as
  /// `metrics::reader()`; called on threads of the server. Null: the route does
  /// not exist.
  std::function<std::string()> metrics = nullptr;

  /// Log of requests (info), without their queries, bodies and tokens. Null:
  /// nothing is logged.
  std::shared_ptr<spdlog::logger> log = nullptr;
};

/// HTTP server through which browsers and programs in any language open the
/// actions of a runtime: by WebSocket, by event streams, and by requests for
/// one answer.
///
/// ```
/// tertulia::http_server web{rt, {.port = 8080}};
/// ```
///
/// @threads  all members.
/// @lifetime must not outlive its runtime. The destructor stops it.
/// @design   docs/server.md.
class http_server {
public:
  /// Begins to serve.
  /// @errors throws `invalid_argument` for options that make no sense;
  ///         `failed_precondition` for an address beyond the loopback interface
  ///         without tokens or encryption, and for a certificate that cannot be
  ///         used; `unavailable` if the address cannot be used.
  explicit http_server(runtime& rt, http_server_options options = {});

  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  ~http_server();

  /// Returns the port.
  [[nodiscard]] std::uint16_t port() const noexcept;

  /// Returns the address of the server, for people: `http://127.0.0.1:8080`.
  [[nodiscard]] std::string url() const;

  /// Reads the files of the certificate again: new connections use it.
  /// @errors throws `failed_precondition` if it cannot be used, and continues
  ///         with the one before.
  void renew_certificate();

  /// Stops: after `stop_delay` it accepts nothing more, lets turns under way
  /// end, and ends the connections; after `drain_within` it ends them in any
  /// case. Kept runs go on without their clients, but their turns count as
  /// well; the input of other runs is closed. Blocks, also until bodies that
  /// run on threads of the server pause or return. A second call ends the
  /// delay, and waits as well.
  /// @pre not called by a body.
  void stop();

private:
  std::unique_ptr<web::server_core> core_;
};

} // namespace tertulia
