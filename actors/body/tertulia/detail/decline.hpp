// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/send_here.hpp>
#include <tertulia/open.hpp>

#include <caf/actor_cast.hpp>

namespace tertulia::detail {

/// Answers an opening that nobody waits for any more: a run that was opened is
/// cancelled, one that has other clients is left.
/// @param is_sought whether the client looks for the run of its session: one
///                  that it has opened is left, too, and it attaches to that.
inline void decline(const open_result& x, bool is_sought = false) {
  const auto& [run, reader] = std::tie(x.attached.run, x.attached.reader);
  if (!run)
    return send_here(x.connection, cancel_atom_v);
  const auto verb
    = reader == 0 && !is_sought ? run_verb::cancel : run_verb::leave;
  send_here(caf::actor_cast<run_actor>(x.connection),
            run_request{verb, reader});
}

} // namespace tertulia::detail
