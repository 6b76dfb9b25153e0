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

} // namespace

chat_talk::outcome
chat_talk::send(std::vector<ai::message> messages,
                const std::function<void(const chat_chunk&)>& on_chunk) {
  if (!live_)
    live_.emplace(flow_.stream_bidi(with_session_id{id_}, with_take_over{}));
  std::atomic<bool> stopped = false;
  try {
    std::optional<instead_of_interrupt> stop;
    if (interrupt_ == ctrl_c::cancels_turn)
      stop.emplace([&] {
        stopped = true;
        live_->cancel();
      });
    live_->send_messages(std::move(messages));
    for (const auto& x : live_->responses())
      on_chunk(x);
  } catch (const status_error& x) {
    drop();
    if (stopped && x.code() == errc::cancelled)
      return outcome::cancelled;
    throw;
  } catch (...) {
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
