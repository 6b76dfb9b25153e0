// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <memory>

namespace spdlog {

class logger;

} // namespace spdlog

namespace tertulia {

/// The limits of one runtime, and where it logs.
///
/// @threads a value; read when the runtime starts.
struct runtime_options {
  /// Connections that may be open at once; one more is refused with
  /// `resource_exhausted`. An idle one costs about 3 KiB.
  std::size_t max_connections = 1'000'000;

  /// Threads for blocking work (`context::run_blocking`), started when the
  /// first such work comes. More let more calls block at once.
  std::size_t blocking_threads = 16;

  /// Blocking calls that may wait for a thread; one more is refused with
  /// `resource_exhausted`.
  std::size_t max_blocking_queue = 10'000;

  /// Hears of connections that open (debug), are refused (info) or fail by a
  /// fault (warn), with keys and codes; and of exceptions of which a client of
  /// another node gets only an id (error), with their text. Null is silence.
  std::shared_ptr<spdlog::logger> log = nullptr;
};

} // namespace tertulia
