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

/// Which server a model is at, and how patient we are with it.
///
/// @threads a value; read when the model is defined.
struct openai_options {
  openai_options() = default;

  /// What the server calls the model, such as `gpt-4o-mini`.
  std::string model;

  /// Where `/chat/completions` is, as `http://…` or `https://…`. If empty, what
  /// the environment variable `OPENAI_BASE_URL` says, or the address of OpenAI.
  std::string base_url;

  /// Sent as a bearer token, and never logged or told in an error, unless it is
  /// shorter than 8 bytes: then it is a word that stands for none. If empty,
  /// what `api_key_variable` holds when the model is defined; a server may need
  /// none.
  std::string api_key;

  /// The environment variable that holds the key.
  std::string api_key_variable = "OPENAI_API_KEY";

  /// Further header fields of every request, by name. Their values are told as
  /// little as the key.
  std::vector<std::pair<std::string, std::string>> headers;

  /// An HTTP proxy that can `CONNECT`, as `[http://][user:password@]host:port`,
  /// user and password encoded as in any URL. If empty and the server is at
  /// `https://…`, what `HTTPS_PROXY` says unless `NO_PROXY` has the host.
  std::string proxy;

  /// A file of certificates, as PEM, that are trusted instead of those of the
  /// system; empty for those.
  std::string ca_file;

  // -- how long it may take: positive -----------------------------------------

  /// Until the connection stands, TLS included.
  caf::timespan connect_within = std::chrono::seconds{10};

  /// For sending the request and until the header of the answer is complete.
  caf::timespan first_byte_within = std::chrono::seconds{60};

  /// Until the next bytes of the answer, while it is read.
  caf::timespan next_bytes_within = std::chrono::seconds{30};

  /// All in all, retries included.
  caf::timespan total_within = std::chrono::minutes{10};

  // -- retries ----------------------------------------------------------------

  /// How often a request is sent again after 429, 500, 502, 503, 504 or a
  /// connection that failed before the first byte.
  int max_retries = 4;

  /// Before the first retry; twice that before each later one. What is waited
  /// is a random time from half of it on.
  caf::timespan first_retry_after = std::chrono::milliseconds{500};

  /// Never wait longer than this: a server that asks for more is not asked
  /// again, and the call fails at once.
  caf::timespan max_retry_after = std::chrono::minutes{1};

  // -- what we accept from the server: bytes ----------------------------------

  /// Of the header of an answer, interim answers (1xx) included. The size and
  /// extensions of a chunk, and the trailers, may have 4 KiB more.
  std::size_t max_header_size = 16'384;

  /// Of one line of the stream.
  std::size_t max_line_size = 1'048'576;

  /// Of an answer as a whole.
  std::size_t max_answer_size = 16'777'216;

  /// Of what is read of an answer that says an error.
  std::size_t max_error_size = 65'536;

  /// Connections that are kept open for the next request, each for up to half a
  /// minute.
  std::size_t max_idle_connections = 64;
};

/// Defines a model that is a client of a server with OpenAI's chat completions,
/// and registers it as `/model/<name>`.
///
/// ```
/// ai::openai_options options;
/// options.model = "gpt-4o-mini";
/// auto model = ai::define_openai_model(rt, "gpt", options);
/// ```
///
/// It streams text and reasoning as they come, and all tool requests at the
/// end, when they are complete; of an answer that was too long, half a request
/// is left out. Pictures are sent by their URL. What `model_config::custom` has
/// is sent as it is, beside what we know of. What the caller does not read is
/// not read from the server, and a cancel closes the connection.
///
/// One thread serves all requests of a process. While the name of a server is
/// looked up, that takes a thread more, one for each model at most.
///
/// Calls of the model end with
///
/// | code | if |
/// | --- | --- |
/// | `invalid_argument` | 400, 413, 422; what the protocol cannot say |
/// | `unauthenticated` | 401 |
/// | `permission_denied` | 403, 407; a certificate that is not trusted |
/// | `not_found` | 404 |
/// | `aborted` | 409 |
/// | `resource_exhausted` | 429 to the end; an answer beyond a limit |
/// | `failed_precondition` | any other status below 500, as 302 |
/// | `internal` | 500 to the end |
/// | `unimplemented` | 501 |
/// | `unavailable` | 502 to 504 to the end; above; no connection, or cut |
/// | `deadline_exceeded` | 408; one of the times above |
/// | `data_loss` | what is no JSON, not of the protocol, or encoded (gzip) |
///
/// and with `unavailable` for an error that the server tells within the stream.
/// If another status than 200 is the reason, the details have it as `status`,
/// and what the server said, if anything, as `error`.
///
/// @errors `already_exists`; `invalid_argument` for options that make no sense;
///         `not_found` if `ca_file` cannot be read.
/// @design README §5.17 "Models".
model define_openai_model(runtime& rt, std::string name,
                          openai_options options);

} // namespace tertulia::ai
