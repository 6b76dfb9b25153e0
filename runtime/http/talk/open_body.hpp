// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/http_server.hpp>
#include <tertulia/json.hpp>
#include <tertulia/open.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "message/exchange.hpp"
#include "message/target.hpp"
#include "server/server_core.hpp"
#include "talk.hpp"

namespace tertulia::web {

/// Body of a request that opens a run, or attaches to one.
struct open_body {
  json init; ///< null: none
  /// Inputs that are sent at once.
  std::vector<json> inputs;
  /// Whether the input is closed behind them.
  bool close = false;
  std::optional<std::string> session;
  std::optional<std::string> snapshot;
  /// Name of the turn that the first input begins.
  std::optional<std::string> turn;
  /// Whether a turn that was cut off is finished first.
  bool resume = false;
  if_live live = if_live::refuse;
  /// Run to attach to; a session without a run attaches with `attach`.
  std::optional<std::string> run;
  bool attach = false;
  std::optional<std::uint64_t> after;
  client_role role = client_role::talker;
  /// Whether the run goes on without its client.
  std::optional<bool> keep;
  std::optional<std::chrono::milliseconds> grace;
  std::optional<std::chrono::milliseconds> deadline;
  /// Caller whose session or run is meant, if somebody else answers its tools.
  std::optional<std::string> owner;
  std::uint32_t input_window = 16;
  std::uint32_t chunk_window = 256;
  /// Number of messages in the state of the output, the last ones; 0 for all.
  std::uint64_t output_messages = 0;
};

BOOST_DESCRIBE_STRUCT(open_body, (),
                      (init, inputs, close, session, snapshot, turn, resume,
                       live, run, attach, after, role, keep, grace, deadline,
                       owner, input_window, chunk_window, output_messages))

} // namespace tertulia::web

template <>
inline constexpr bool
  tertulia::refuses_unknown_members<tertulia::web::open_body> = true;

namespace tertulia::web {

/// Reads a JSON document.
/// @errors throws `invalid_argument`.
[[nodiscard]] json read_document(std::string_view text);

/// Reads the body of a request that opens a run.
/// @errors throws `invalid_argument` with the path of what is wrong.
[[nodiscard]] open_body open_body_of(std::string_view text);

/// Returns the body of a request that attaches to the run or the session in a
/// query.
/// @errors throws `invalid_argument` if the query has neither.
[[nodiscard]] open_body target_of(const target& x);

/// Returns whether a request names another caller, for whom its own one answers
/// questions of tools.
[[nodiscard]] bool is_guest(const open_body& x, const exchange& from);

/// Returns the request to open an action in the name of a caller.
/// @param x       loses its inputs.
/// @param is_kept whether the run goes on without its client if the body does
///                not say so.
/// @errors throws `invalid_argument`; `permission_denied` if the caller may not
///         do so.
[[nodiscard]] std::unique_ptr<open_terms>
open_terms_of(open_body& x, const server_core& server, const exchange& from,
              const std::string& key, bool is_kept);

} // namespace tertulia::web
