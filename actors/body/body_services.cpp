// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/body_services.hpp>

#include <utility>

#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

namespace tertulia::detail {

namespace {

std::shared_ptr<spdlog::logger> silence() {
  return std::make_shared<spdlog::logger>(
    "tertulia", std::make_shared<spdlog::sinks::null_sink_mt>());
}

} // namespace

body_services::body_services(std::shared_ptr<spdlog::logger> log,
                             std::size_t threads, std::size_t max_queue,
                             span_values values)
  : log(log ? std::move(log) : silence()), values(std::move(values)),
    blocking(threads, max_queue) {}

} // namespace tertulia::detail
