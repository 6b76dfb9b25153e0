// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/bidi_action.hpp>
#include <tertulia/task.hpp>

#include <functional>
#include <vector>

namespace tertulia {

/// Callback for the chunks of an action that is run by key.
using chunk_listener = std::function<void(const json&)>;

namespace detail {

/// Sends the inputs, closes, reads to the end and returns the output; blocks.
json run_once(json_connection talk, const std::vector<json>& inputs,
              const chunk_listener& on_chunk);

/// Sends the inputs, closes, reads to the end and returns the output, for a
/// body; does not block.
task<json> run_once(task<async_connection<json, json, json>> opening,
                    std::vector<json> inputs, chunk_listener on_chunk);

} // namespace detail

} // namespace tertulia
