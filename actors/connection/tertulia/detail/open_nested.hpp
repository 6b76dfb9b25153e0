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
/// @param way    for an action of another node: a client of a kept run comes
///               back by it.
/// @errors those of the front desk and of the connection; `deadline_exceeded`.
task<std::unique_ptr<nested_connection>>
open_nested(context ctx, front_desk_actor desk, open_request request,
            std::shared_ptr<const action> action,
            std::shared_ptr<way_back> way = nullptr);

} // namespace tertulia::detail
