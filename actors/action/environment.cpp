// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/environment.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store.hpp>

#include <array>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

namespace tertulia::detail {

namespace {

std::string process_name() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0)
    host.front() = '?';
  return fmt::format("process {} on {}", ::getpid(), host.data());
}

} // namespace

environment::environment(caf::actor_system& system,
                         const runtime_options& options)
  : body_services(options.log, options.blocking_threads,
                  options.max_blocking_queue,
                  {options.redact_span, options.max_span_value}),
    system(system), options(options), exposed(options.expose),
    owner(process_name()) {
  if (options.run_heartbeat.count() <= 0
      || options.run_heartbeat > max_run_beat)
    throw status_error{errc::invalid_argument,
                       "the heartbeat of runs must be positive, and at most a "
                       "day"};
  if (options.stored_run_retention.count() < 0)
    throw status_error{errc::invalid_argument,
                       "the retention of runs must not be negative"};
}

} // namespace tertulia::detail
