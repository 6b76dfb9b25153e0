// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/bidi_action.hpp>
#include <tertulia/detail/blocking_caller.hpp>
#include <tertulia/status.hpp>

#include <caf/scoped_actor.hpp>

#include <chrono>

namespace tertulia::detail {

run_info ask_run(const action_ref& of, run_verb verb, const run_id& run,
                 const session_id& session) {
  check_may_block(*of.system);
  run_info result;
  caf::error failure;
  caf::scoped_actor self{*of.system};
  self
    ->request(of.current_desk(), std::chrono::seconds{30},
              run_request{verb, run, of.key, session})
    .receive([&](run_info& x) { result = std::move(x); },
             [&](caf::error& x) { failure = std::move(x); });
  if (failure)
    raise(failure);
  return result;
}

} // namespace tertulia::detail
