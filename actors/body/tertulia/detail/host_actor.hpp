// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/open.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/turn.hpp>

#include <cstdint>

namespace tertulia::detail {

/// Protocol of a connection actor: messages of its client, of connections whose
/// client is its body, for its own waits, and of the flows that its body has
/// called.
using host_actor
  = protocol<caf::result<open_result>(open_request),
             caf::result<void>(turn_input), caf::result<void>(chunk_credit),
             caf::result<void>(caf::close_atom), caf::result<void>(cancel_atom),
             caf::result<void>(chunk_batch), caf::result<void>(input_credit),
             caf::result<void>(turn_end), caf::result<void>(completion),
             caf::result<void>(caf::tick_atom, std::uint64_t),
             caf::result<void>(done_atom, std::uint64_t),
             caf::result<void>(cancel_atom, caf::error),
             caf::result<snapshot_outcome>(iteration_end),
             caf::result<void>(cancel_atom, std::uint64_t),
             caf::result<void>(answer_end), caf::result<void>(custom_change),
             caf::result<run_info>(run_request)>;

} // namespace tertulia::detail
