// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/model_handle.hpp>

#include <caf/timespan.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tertulia {

class runtime;

} // namespace tertulia

namespace tertulia::ai {

/// Server of a model, with time-outs, retries and limits.
///
/// @threads a value; read when the model is defined.
struct openai_options {
  openai_options() = default;

  /// The server's name of the model, such as `gpt-4o-mini`.
  std::string model;

  /// Base URL of `/chat/completions`, as `http://…` or `https://…`. If empty,
  /// the value of the environment variable `OPENAI_BASE_URL`, or the address of
  /// OpenAI.
  std::string base_url;

  /// Sent as a bearer token, and never logged or included in an error, unless
  /// it is shorter than 8 bytes: then it is a placeholder for a missing key. If
  /// empty, the value of `api_key_variable` when the model is defined; some
  /// servers do not need a key.
  std::string api_key;

  /// Name of the environment variable with the key.
  std::string api_key_variable = "OPENAI_API_KEY";

  /// Further header fields of every request, by name. Their values are kept
  /// secret like the key.
  std::vector<std::pair<std::string, std::string>> headers;

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

  /// Header of an answer, including interim answers (1xx). The size and
  /// extensions of a chunk, and the trailers, may take 4 KiB more.
  std::size_t max_header_size = 16'384;

  /// One line of the stream.
  std::size_t max_line_size = 1'048'576;

  /// A whole answer.
  std::size_t max_answer_size = 16'777'216;

  /// The part of an error answer that is read.
  std::size_t max_error_size = 65'536;

  /// Maximum number of connections that are kept open for the next request,
  /// each for at most half a minute.
  std::size_t max_idle_connections = 64;
};

/// Defines a model that is a client of a server with OpenAI's chat completions
/// API, and registers it as `/model/<name>`.
///
/// ```
/// ai::openai_options options;
/// options.model = "gpt-4o-mini";
/// auto model = ai::define_openai_model(rt, "gpt", options);
/// ```
///
/// Text and reasoning are streamed as they arrive, and all tool requests at the
/// end, when they are complete. Incomplete requests of an answer that was too
/// long are omitted. Pictures are sent by their URL. The members of
/// `model_config::custom` are added to the request unchanged. They replace
/// members of the same name that this library writes, even `messages`. Data
/// that the caller does not read is not read from the server, and a cancel
/// closes the connection.
///
/// One thread serves all requests of a process. A name lookup of a server takes
/// one more thread, at most one for each model.
///
/// Calls of the model end with
///
/// | code | if |
/// | --- | --- |
/// | `invalid_argument` | 400, 413, 422; content that cannot be expressed |
/// | `unauthenticated` | 401 |
/// | `permission_denied` | 403, 407; a certificate that is not trusted |
/// | `not_found` | 404 |
/// | `aborted` | 409 |
/// | `resource_exhausted` | 429 after all retries; an answer beyond a limit |
/// | `failed_precondition` | any other status below 500, such as 302 |
/// | `internal` | 500 after all retries |
/// | `unimplemented` | 501 |
/// | `unavailable` | 502-504 after all retries; above; no or lost connection |
/// | `deadline_exceeded` | 408; one of the time-outs above |
/// | `data_loss` | not JSON, not of the protocol, or encoded (gzip) |
///
/// and with `unavailable` for an error that the server reports within the
/// stream. If the reason is a status other than 200, the details contain it as
/// `status`, and the server's message, if any, as `error`.
///
/// @errors `already_exists`; `invalid_argument` for invalid options;
///         `not_found` if `ca_file` cannot be read.
/// @design docs/models.md#models.
model define_openai_model(runtime& rt, std::string name,
                          openai_options options);

} // namespace tertulia::ai
