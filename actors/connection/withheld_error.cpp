// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/withheld_error.hpp>
#include <tertulia/uuid.hpp>

#include <fmt/format.h>
#include <spdlog/logger.h>

namespace tertulia::detail {

status_error withhold(const status_error& x, std::string_view what,
                      spdlog::logger& log) {
  if (!x.is_unexpected())
    return x;
  const auto id = make_uuid();
  log.error("{} failed, error {}: {}", what, id, x.message());
  return {errc::internal, fmt::format("an unexpected error: {}", id),
          R"({"error":")" + id + R"("})"};
}

} // namespace tertulia::detail
