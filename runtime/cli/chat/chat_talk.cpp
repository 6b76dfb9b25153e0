// SPDX-License-Identifier: BSD-3-Clause

#include "chat_talk.hpp"

#include <tertulia/status.hpp>

#include <atomic>
#include <chrono>
#include <utility>

#include "interrupts.hpp"

namespace tertulia::tool {

namespace {

/// Longest wait for an invocation to unwind. After that, the next invocation
/// takes it over, which waits as well.
constexpr caf::timespan unwind_within = std::chrono::seconds{10};

/// Time for which a kept run waits for a chat that is started again.
constexpr caf::timespan kept_for = std::chrono::minutes{10};

} // namespace

void chat_talk::open(bool or_open) {
  if (life_ == run_life::ends)
    live_.emplace(flow_.stream_bidi(with_session_id{id_}, with_take_over{}));
  else
    live_.emplace(flow_.stream_bidi(with_session_id{id_}, with_attach{or_open},
                                    with_keep{kept_for}));
}

chat_talk::outcome
chat_talk::send(std::vector<ai::message> messages,
                const std::function<void(const chat_chunk&)>& on_chunk) {
  if (!live_)
    open(true);
  return hear([&] { live_->send_messages(std::move(messages)); }, on_chunk);
}

std::optional<chat_talk::outcome>
chat_talk::attach(const std::function<void()>& on_begin,
                  const std::function<void(const chat_chunk&)>& on_chunk) {
  leave();
  try {
    open(false);
  } catch (const status_error& x) {
    if (x.code() != errc::not_found)
      throw;
    return std::nullopt; // the run has ended meanwhile
  }
  if (!live_->opened_in_turn())
    return std::nullopt;
  return hear(on_begin, on_chunk);
}

std::optional<run_info> chat_talk::run_of(const session_id& id) const {
  if (life_ == run_life::ends)
    return std::nullopt;
  try {
    auto found = flow_.find_run(id);
    if (found.status == run_status::running)
      return found;
  } catch (const status_error& x) {
    if (x.code() != errc::not_found)
      throw;
  }
  return std::nullopt;
}

bool chat_talk::is_live(const session_id& id) const {
  return run_of(id).has_value();
}

bool chat_talk::answer_is_under_way() const {
  const auto found = run_of(id_);
  return found && found->is_in_turn;
}

chat_talk::outcome
chat_talk::hear(const std::function<void()>& begin,
                const std::function<void(const chat_chunk&)>& on_chunk) {
  finish_reason_.reset();
  std::atomic<bool> stopped = false;
  try {
    std::optional<instead_of_interrupt> stop;
    if (interrupt_ == ctrl_c::cancels_turn)
      stop.emplace([&](int) {
        stopped = true;
        live_->cancel();
        return true;
      });
    begin();
    for (const auto& x : live_->responses())
      on_chunk(x);
    finish_reason_ = live_->finish_reason();
  } catch (const status_error& x) {
    drop();
    if (stopped && x.code() == errc::cancelled)
      return outcome::cancelled;
    throw;
  } catch (...) { // nobody reads any more
    if (life_ == run_life::is_kept)
      live_.reset();
    else
      drop();
    throw;
  }
  // Ctrl-C came too late for this turn, but has cancelled the invocation.
  if (stopped || live_->finished())
    drop();
  return outcome::answered;
}

void chat_talk::leave() noexcept {
  if (!live_)
    return;
  try {
    live_->close();
    live_->wait_until_done(unwind_within);
  } catch (...) {
    // All answered turns are stored.
  }
  live_.reset();
}

void chat_talk::drop() noexcept {
  try {
    live_->cancel();
    live_->wait_until_done(unwind_within);
  } catch (...) {
    // The invocation is dropped in any case; its error does not matter.
  }
  live_.reset();
}

void chat_talk::go_to(session_id id) {
  leave();
  id_ = std::move(id);
}

} // namespace tertulia::tool
