// SPDX-License-Identifier: BSD-3-Clause

// Attaching again, and opening the session again, after a loss.

#include <tertulia/detail/client_end.hpp>
#include <tertulia/status.hpp>

#include <algorithm>
#include <limits>
#include <string>

#include <fmt/format.h>

namespace tertulia::detail {

namespace {

/// Number that no reader has.
constexpr auto no_reader = std::numeric_limits<std::uint32_t>::max();

} // namespace

open_options client_end::begin_to_return() {
  returning_ = true;
  open_options result;
  // What has arrived and was not granted again takes its part of the window. A
  // rendezvous asks again for the chunk that was lost.
  result.chunk_window
    = window_ == 0 ? (demand_ ? 1 : 0) : window_ - std::min(window_, held_);
  auto& chosen = result.attach.emplace();
  chosen.run = run();
  chosen.after = next_;
  chosen.role = role_;
  chosen.back_as = reader_;
  return result;
}

std::vector<turn_input> client_end::on_returned(const open_result& x) {
  returning_ = false;
  if (role_ == client_role::listener)
    inputs_.set_count(x.attached.inputs); // those of the talker
  if (x.attached.run == run() && x.attached.next == next_
      && x.attached.inputs <= inputs_.count())
    return resend(x);
  on_lost(fail(errc::data_loss, "the run continues at another position"));
  return {};
}

std::vector<turn_input> client_end::resend(const open_result& x) {
  reader_ = x.attached.reader;
  input_credit_ = x.input_credit;
  foreign_inputs_ = untaken_in(x.attached);
  if (!waits_for_store())
    inputs_.drop_until(x.attached.inputs);
  inputs_.rewind(x.attached.inputs);
  return due_inputs();
}

std::vector<turn_input> client_end::due_inputs() {
  std::vector<turn_input> result;
  for (; has_unsent() && input_credit_ > 0; --input_credit_)
    result.push_back(inputs_.take_unsent(reader_));
  return result;
}

// -- a session that is opened again -------------------------------------------

open_options client_end::begin_to_reopen(const open_options& first) {
  auto result = first;
  const auto again = begin_to_return();
  result.chunk_window = again.chunk_window;
  result.session = session();
  result.snapshot = {}; // what the session continues from is its head
  result.live = if_live::refuse;
  result.disconnect = on_disconnect::keep;
  result.grace = grace_;
  // A turn that this client has not chosen to resume stays cut off.
  if (!first.resume_after)
    result.resume_after
      = first.attach || turn_found_ == turn_progress::open ? 0 : first_inputs_;
  if (turn_ > first_turn_)
    result.turn = {}; // it is over
  result.turn_begin = first_inputs_;
  // The run of another client is not taken over, only one that this client has
  // opened itself without hearing so.
  auto& attach = result.attach.emplace();
  attach.or_open = true;
  attach.back_as = no_reader;
  return result;
}

std::vector<turn_input> client_end::on_reopened(const open_result& x) {
  returning_ = false;
  const auto& at = x.attached;
  const auto lose = [this](errc code, std::string why) {
    on_lost(fail(code, std::move(why)));
    return std::vector<turn_input>{};
  };
  if (at.inputs > inputs_.count())
    return lose(errc::aborted, "another client has continued the session");
  if (at.turn > turn_ + max_window || at.taken > at.inputs)
    return lose(errc::data_loss, "the position of the session is impossible");
  if (at.inputs < stored_inputs_)
    return lose(
      errc::data_loss,
      fmt::format("the session has lost inputs that it had confirmed: "
                  "it has {}",
                  at.inputs));
  if (at.inputs < inputs_.first_held())
    return lose(errc::unavailable, "the run was lost with inputs of another "
                                   "client that were not stored");
  drop_open_turn();
  names_.set_run(at.run);
  earlier_ = 0;
  for (const auto& item : unread_) {
    const auto* batch = std::get_if<chunk_batch>(&item);
    const auto* turn = std::get_if<turn_end>(&item);
    if (batch != nullptr || turn->last.first != unnumbered)
      earlier_ += batch != nullptr ? batch->size : 1;
  }
  next_ = read_ = at.next;
  heard_turns_ = turn_ > at.turn ? turn_ - at.turn : 0;
  for (; turn_ < at.turn; ++turn_) {
    turn_end unheard{turn_};
    unheard.last.first = unnumbered;
    if (turn_ + 1 == at.turn)
      unheard.snapshot = x.snapshot;
    unread_.push_back(std::move(unheard));
  }
  return resend(x);
}

void client_end::drop_open_turn() {
  for (; !unread_.empty(); unread_.pop_back()) {
    const auto* batch = std::get_if<chunk_batch>(&unread_.back());
    if (batch == nullptr)
      return;
    count_consumed(batch->size);
    unread_count_ -= batch->size;
  }
}

} // namespace tertulia::detail
