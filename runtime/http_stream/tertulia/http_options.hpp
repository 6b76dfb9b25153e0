// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/timespan.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tertulia {

/// Fields of a header, by name, in order.
using http_fields = std::vector<std::pair<std::string, std::string>>;

/// Address of an HTTP server, with time-outs, retries and limits.
///
/// @threads a value; read when the client is created.
struct http_options {
  http_options() = default;

  /// Base URL of all requests, as `http://…` or `https://…`, without a query.
  std::string base_url;

  /// Further header fields of every request. Their values are kept secret:
  /// never logged or included in an error, unless they are shorter than 8
  /// bytes.
  http_fields headers;

  /// HTTP proxy that supports `CONNECT`, as
  /// `[http://][user:password@]host:port`, with user and password URL-encoded.
  /// If empty and the server is at `https://…`, the value of `HTTPS_PROXY`,
  /// unless `NO_PROXY` includes the host.
  std::string proxy;

  /// PEM file of certificates that are trusted instead of those of the system;
  /// if empty, those of the system are trusted.
  std::string ca_file;

  // -- time-outs: positive ----------------------------------------------------

  /// Time until the connection is established, including TLS.
  caf::timespan connect_within = std::chrono::seconds{10};

  /// Time to send the request and to receive the complete header of the answer.
  caf::timespan first_byte_within = std::chrono::seconds{60};

  /// Time until the next bytes of the answer, while it is read.
  caf::timespan next_bytes_within = std::chrono::seconds{30};

  /// Total time of a call, including retries.
  caf::timespan total_within = std::chrono::minutes{10};

  // -- retries ----------------------------------------------------------------

  /// Maximum number of retries after 429, 500, 502, 503, 504 or a connection
  /// that failed before the first byte.
  int max_retries = 4;

  /// Pause before the first retry; it doubles before each later one. The actual
  /// pause is a random time between half of it and all of it.
  caf::timespan first_retry_after = std::chrono::milliseconds{500};

  /// Maximum pause. If a server asks for a longer one, it is not asked again,
  /// and the call fails at once.
  caf::timespan max_retry_after = std::chrono::minutes{1};

  // -- limits of an answer: bytes ---------------------------------------------

  /// Header of an answer, including interim answers (1xx), the answer of a
  /// proxy and trailers. A single line is noticed when it is complete or has
  /// 100 KiB. The size and extensions of a chunk may take 4 KiB more.
  std::size_t max_header_size = 16'384;

  /// One line of the stream, and the data of one event.
  std::size_t max_line_size = 1'048'576;

  /// A whole answer.
  std::size_t max_answer_size = 16'777'216;

  /// The part of an error answer that is read.
  std::size_t max_error_size = 65'536;

  /// Maximum number of connections that are kept open for the next request.
  /// None is used again after half a minute, and all are closed when the client
  /// has sent no request for that time.
  std::size_t max_idle_connections = 64;
};

} // namespace tertulia
