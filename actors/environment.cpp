// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/environment.hpp>

#include "front_desk.hpp"
#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

namespace tertulia::detail {

namespace {

std::shared_ptr<spdlog::logger> silence() {
  return std::make_shared<spdlog::logger>(
    "tertulia", std::make_shared<spdlog::sinks::null_sink_mt>());
}

} // namespace

environment::environment(caf::actor_system& system,
                         const runtime_options& options)
  : system(system), options(options),
    log(options.log ? options.log : silence()),
    blocking(options.blocking_threads, options.max_blocking_queue) {}

std::shared_ptr<environment> make_environment(caf::actor_system& system,
                                              const runtime_options& options) {
  auto result = std::make_shared<environment>(system, options);
  result->timer = spawn_timer(system);
  result->leases = spawn_leases(system);
  result->desk = spawn_front_desk(result);
  return result;
}

} // namespace tertulia::detail
