// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/decline.hpp>
#include <tertulia/detail/send_here.hpp>
#include <tertulia/open.hpp>

#include <caf/actor_cast.hpp>

#include <tuple>

namespace tertulia::detail {

void decline(const open_result& x, bool is_sought) {
  const auto& [run, reader] = std::tie(x.attached.run, x.attached.reader);
  if (!run)
    return send_here(x.connection, cancel_atom_v);
  const auto verb
    = reader == 0 && !is_sought ? run_verb::cancel : run_verb::leave;
  send_here(caf::actor_cast<run_actor>(x.connection),
            run_request{verb, reader});
}

} // namespace tertulia::detail
