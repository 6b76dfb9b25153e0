// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/blocking_wait.hpp>

#include <caf/send.hpp>

namespace tertulia::detail {

void blocking_wait_base::abort(const caf::error& reason) {
  fail_with(reason);
  if (job_->abandon()) {
    owner().take_wait(id_);
    wake();
  }
}

blocking_wait_base::~blocking_wait_base() {
  if (job_ && id_ != 0)
    job_->join();
}

bool blocking_wait_base::submit() {
  auto& at = owner();
  id_ = at.register_wait(*this);
  // The handle keeps the actor alive, and with it this frame, until the work is
  // done.
  const auto queued = at.services().blocking.submit(
    job_, [self = host_actor{at.self()}, id = id_] {
      caf::anon_send(self, done_atom_v, id);
    });
  if (queued) {
    suspend();
    return true;
  }
  at.take_wait(std::exchange(id_, 0));
  fail_with(fail(errc::resource_exhausted,
                 "too many blocking calls wait for a thread"));
  return false;
}

} // namespace tertulia::detail
