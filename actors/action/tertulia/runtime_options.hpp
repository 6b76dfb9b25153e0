// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/access_request.hpp>
#include <tertulia/detail/json_path.hpp>

#include <caf/timespan.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spdlog {

class logger;

} // namespace spdlog

namespace tertulia {

/// Returns the default keys of the actions that clients outside the program may
/// open: flows and agents of every kind. Models, tools and stores are not among
/// them.
[[nodiscard]] inline std::vector<std::string> default_exposure() {
  return {"/bidi-flow/*", "/bidi-action/*", "/agent/*", "/chat-agent/*",
          "/session-flow/*"};
}

/// Limits and log of one runtime.
///
/// @threads a value; read when the runtime starts.
struct runtime_options {
  /// Maximum number of open connections; further ones are refused with
  /// `resource_exhausted`. An idle connection costs about 3 KiB.
  std::size_t max_connections = 1'000'000;

  /// Maximum number of open connections of one caller, as servers name them;
  /// further ones are refused with `resource_exhausted`. Clients without a name
  /// count as one caller, and clients in the program do not count.
  std::size_t max_connections_per_caller = 20'000;

  /// Bytes of turns before the last one that a kept run holds for clients that
  /// attach later. The last turn comes on top, up to `max_turn_log`.
  std::size_t max_run_log = std::size_t{256} * 1'024;

  /// Bytes of the last turn that a kept run holds, under way or over: a client
  /// that has lost its network in a turn often comes back behind its end. The
  /// oldest are dropped then.
  std::size_t max_turn_log = std::size_t{4} * 1'024 * 1'024;

  /// Maximum number of listeners of one run; further ones are refused with
  /// `resource_exhausted`.
  std::size_t max_listeners = 10'000;

  /// Time for which a kept run that has ended waits for a client that has not
  /// heard its end, if it was opened without a grace period.
  caf::timespan ended_run_retention = std::chrono::minutes{10};

  /// Time between the heartbeats of a kept run that a store knows. Without one
  /// for three times as long, the run reads as expired. It is also the longest
  /// time after which a run notices that it was aborted in its store. Positive,
  /// and at most a day.
  caf::timespan run_heartbeat = std::chrono::seconds{10};

  /// Time for which stores keep runs that are over; not negative.
  caf::timespan stored_run_retention = std::chrono::hours{24 * 7};

  /// Keys of the actions that other nodes may open once the runtime is
  /// published, such as `/bidi-flow/echo`; `*` at the end stands for every
  /// rest. An action that is not among them does not exist for another node: it
  /// is not listed either, and nobody asks for its runs.
  std::vector<std::string> expose = default_exposure();

  /// Function that decides what the callers of other nodes may do with exposed
  /// actions, once the runtime is published. What is not allowed is refused
  /// with `permission_denied`, and an action that may not be seen is not
  /// listed. Null: every access is allowed.
  access_rule authorize = nullptr;

  /// Whether the holder of a certificate may use the stores of conversations
  /// on other nodes (`remote_runtime::store`, `tertulia --connect`): read,
  /// change and delete every session. Without it, that is refused with
  /// `permission_denied`.
  bool publish_stores = false;

  /// Number of threads for blocking work (`context::run_blocking`), started
  /// with the first such work. More threads let more calls block at the same
  /// time.
  std::size_t blocking_threads = 16;

  /// Maximum number of blocking calls that wait for a thread; further ones are
  /// refused with `resource_exhausted`.
  std::size_t max_blocking_queue = 10'000;

  /// Log of connections that open (debug), are refused (info) or fail by a
  /// fault (warn), with keys and codes. Also of exceptions of which a client of
  /// another node gets only an id (error), with their text. Null: nothing is
  /// logged.
  std::shared_ptr<spdlog::logger> log = nullptr;

  /// Changes an input or an output before it is recorded on a span, for example
  /// removes what is secret. `attribute` is `genkit:input` or `genkit:output`.
  /// Called by many threads at once. If it throws, the value is not recorded.
  /// Null: values are recorded as they are.
  std::function<void(std::string_view attribute, json& value)> redact_span
    = nullptr;

  /// Size in bytes behind which an input or an output on a span is cut. 0: none
  /// is recorded.
  std::size_t max_span_value = 8'192;
};

} // namespace tertulia
