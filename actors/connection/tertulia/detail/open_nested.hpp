// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/context.hpp>
#include <tertulia/detail/nested_connection.hpp>
#include <tertulia/open.hpp>
#include <tertulia/task.hpp>

#include <memory>
#include <utility>

namespace tertulia::detail {

/// Opens a connection whose client is the body.
/// @param action the action if it belongs to this process.
/// @errors those of the front desk and of the connection; `deadline_exceeded`.
task<std::unique_ptr<nested_connection>>
open_nested(context ctx, front_desk_actor desk, open_request request,
            caf::timespan within, std::shared_ptr<const action> action);

} // namespace tertulia::detail
