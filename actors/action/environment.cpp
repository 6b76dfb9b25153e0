// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/environment.hpp>

#include <array>
#include <string>

#include <unistd.h>

namespace tertulia::detail {

namespace {

std::string process_name() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0)
    host.front() = '?';
  return "process " + std::to_string(::getpid()) + " on " + host.data();
}

} // namespace

environment::environment(caf::actor_system& system,
                         const runtime_options& options)
  : body_services(options.log, options.blocking_threads,
                  options.max_blocking_queue,
                  {options.redact_span, options.max_span_value}),
    system(system), options(options), owner(process_name()) {}

} // namespace tertulia::detail
