// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/model_handle.hpp>
#include <tertulia/http_options.hpp>

#include <string>

namespace tertulia {

class runtime;

} // namespace tertulia

namespace tertulia::ai {

/// Server of a model, with time-outs, retries and limits.
///
/// If `base_url`, the URL in front of `/chat/completions`, is empty, it is the
/// value of the environment variable `OPENAI_BASE_URL`, or the address of
/// OpenAI.
///
/// @threads a value; read when the model is defined.
struct openai_options : http_options {
  openai_options() = default;

  /// The server's name of the model, such as `gpt-4o-mini`.
  std::string model;

  /// Sent as a bearer token, and kept secret like the values of `headers`. A
  /// key shorter than 8 bytes is a placeholder for a missing one. If empty, the
  /// value of `api_key_variable` when the model is defined; some servers do not
  /// need a key.
  std::string api_key;

  /// Name of the environment variable with the key.
  std::string api_key_variable = "OPENAI_API_KEY";
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
/// Calls of the model end with the errors of an `http_stream`; `data_loss` also
/// for an answer that does not follow the protocol, `invalid_argument` for
/// content that cannot be expressed,
/// and with `unavailable` for an error that the server reports within the
/// stream.
///
/// @errors `already_exists`; `invalid_argument` for invalid options;
///         `not_found` if `ca_file` is missing, `failed_precondition` if it is
///         a folder.
/// @design docs/models.md#models.
model define_openai_model(runtime& rt, std::string name,
                          openai_options options);

} // namespace tertulia::ai
