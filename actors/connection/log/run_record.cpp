// SPDX-License-Identifier: BSD-3-Clause

#include "run_record.hpp"

#include <tertulia/detail/send_here.hpp>

#include <algorithm>
#include <utility>

#include "connection_state.hpp"

namespace tertulia::detail {

run_record::run_record(connection_state& of, stored_run run,
                       snapshot_store store, caf::timespan retention)
  : owner_(of), run_(std::move(run)), store_(std::move(store)),
    retention_(retention) {
  beat();
}

void run_record::end(run_status status, const caf::error& reason,
                     bool can_wait) {
  if (is_finished_ || (can_wait && run_.status != run_status::running))
    return;
  stop();
  run_.status = status;
  if (reason) {
    const auto why = to_status(reason);
    run_.code = why.code();
    // The log of the runtime has the text of an unexpected exception.
    run_.error = to_status(owner_.error_for_remote(reason)).message();
  }
  if (can_wait) {
    left_ = run_.beat * max_missed_beats;
    unanswered_ = 0; // the last answer is one to a heartbeat
    beat();
  } else {
    send_here(store_, save_run_request{run_, retention_});
    is_finished_ = true;
  }
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
  auto pause = run_.beat;
  if (run_.status != run_status::running) {
    if (left_.count() <= 0)
      return finish();
    pause = std::min(pause, max_pause);
    left_ -= pause;
  }
  timer_ = owner_.register_wait(*this, pause);
  // A store that stalls is not flooded.
  if (unanswered_ == 0 || unanswered_ >= max_missed_beats)
    ask();
  else
    ++unanswered_;
}

void run_record::ask() {
  unanswered_ = 1;
  // No time-out: later heartbeats ask again.
  owner_.self()
    ->request(store_, caf::infinite, save_run_request{run_, retention_})
    .then(
      [this, sent = run_.status](const stored_run& x) {
        if (sent != run_.status)
          return; // to a heartbeat, and the run has ended since
        unanswered_ = 0;
        const auto was_aborted = x.status == run_status::aborted;
        if (sent != run_status::running) {
          was_aborted_ = was_aborted && sent != run_status::aborted;
          finish();
        } else if (was_aborted) {
          owner_.abort(fail(errc::aborted, "the run was aborted"));
        }
      },
      [this, sent = run_.status](const caf::error&) {
        if (sent == run_.status)
          unanswered_ = 0;
      });
}

void run_record::finish() {
  stop();
  if (!std::exchange(is_finished_, true))
    owner_.quit_if_done();
}

} // namespace tertulia::detail
