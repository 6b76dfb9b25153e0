// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/blocking_pool.hpp>
#include <tertulia/detail/span_values.hpp>
#include <tertulia/detail/timer.hpp>
#include <tertulia/trace.hpp>

#include <cstddef>
#include <memory>

namespace spdlog {

class logger;

} // namespace spdlog

namespace tertulia::detail {

/// Services of a runtime that its bodies use.
///
/// @threads as documented for each of them; the timer is set before any
///          connection opens.
class body_services {
public:
  /// @param log       null: nothing is logged.
  /// @param threads   number of threads for blocking work.
  /// @param max_queue maximum number of calls that wait for a thread.
  body_services(std::shared_ptr<spdlog::logger> log, std::size_t threads,
                std::size_t max_queue, span_values values);

  /// Never null.
  const std::shared_ptr<spdlog::logger> log;
  tracer traces;
  const span_values values;
  blocking_pool blocking;
  /// Set before any connection opens; never null after that.
  std::unique_ptr<detail::timer> timer;
};

} // namespace tertulia::detail
