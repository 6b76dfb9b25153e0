// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/status.hpp>

#include <string_view>

#include <spdlog/fwd.h>

namespace tertulia::detail {

/// Returns the error without the text of an unexpected exception, which may
/// hold anything: `internal` with an id, under which the log, if there is one,
/// has the text. Any other error is returned unchanged.
///
/// @param what  the action or tool that has thrown, for the log.
/// @threads any.
[[nodiscard]] status_error withhold(const status_error& x,
                                    std::string_view what, spdlog::logger& log);

} // namespace tertulia::detail
