// SPDX-License-Identifier: BSD-3-Clause

#include "run_record.hpp"

#include <caf/send.hpp>

#include <utility>

#include "connection_state.hpp"

namespace tertulia::detail {

run_record::run_record(connection_state& of, stored_run run,
                       snapshot_store store, caf::timespan retention)
  : owner_(of), run_(std::move(run)), store_(std::move(store)),
    retention_(retention) {
  beat();
}

void run_record::end(run_status status, const caf::error& reason) {
  stop();
  if (run_.status != run_status::running)
    return;
  run_.status = status;
  if (reason) {
    const auto why = to_status(reason);
    run_.code = why.code();
    // The log of the runtime has the text of an unexpected exception.
    run_.error = to_status(owner_.error_for_remote(reason)).message();
  }
  // Nobody waits for the reply: a run that was aborted stays aborted.
  caf::anon_send(store_, save_run_request{run_, retention_});
}

void run_record::stop() noexcept {
  if (timer_ != 0)
    owner_.take_wait(std::exchange(timer_, 0));
}

void run_record::abort(const caf::error&) {
  owner_.take_wait(std::exchange(timer_, 0));
  beat();
}

void run_record::beat() {
  if (run_.beat.count() > 0)
    timer_ = owner_.register_wait(*this, run_.beat);
  // No time-out: the next heartbeat asks again, and a session whose store is
  // lost ends its connection.
  owner_.self()
    ->request(store_, caf::infinite, save_run_request{run_, retention_})
    .then(
      [this](const stored_run& x) {
        if (x.status == run_status::aborted
            && run_.status == run_status::running)
          owner_.abort(fail(errc::aborted, "the run was aborted"));
      },
      [](const caf::error&) {});
}

} // namespace tertulia::detail
