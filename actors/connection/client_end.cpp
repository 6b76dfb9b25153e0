// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/chunk_cursor.hpp>
#include <tertulia/detail/client_end.hpp>
#include <tertulia/json.hpp>
#include <tertulia/status.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace tertulia::detail {

namespace {

/// First number of the chunks of an end of a turn that has not arrived.
constexpr auto unnumbered = std::numeric_limits<std::uint64_t>::max();

/// Number that no reader has.
constexpr auto no_reader = std::numeric_limits<std::uint32_t>::max();

/// Returns the text as a JSON document, or as a JSON string if it is not one.
json document_in(const std::string& text) {
  try {
    return payload::encoded(text).to_json();
  } catch (const status_error&) {
    return text;
  }
}

/// Adds the state of a conversation to the details of an error. An error that
/// stands for an unexpected exception is returned unchanged: a new error would
/// count as written by the author, and clients on other nodes would get its
/// text.
caf::error with_state(const caf::error& reason, const payload& state) {
  const auto status = to_status(reason);
  if (status.is_unexpected())
    return reason;
  try {
    auto details = json::object();
    if (auto given = document_in(status.details()); given.is_object())
      details = std::move(given);
    else if (!status.details().empty())
      details["details"] = std::move(given);
    details["state"] = state.to_json();
    return fail(status.code(), status.message(), to_json_text(details));
  } catch (const status_error&) {
    return reason; // the state or the details have no JSON
  }
}

} // namespace

void raise_wrong_size(std::size_t expected, std::size_t found) {
  throw status_error{errc::data_loss, "a batch of " + std::to_string(expected)
                                        + " chunks has "
                                        + std::to_string(found)};
}

client_end::client_end(std::uint32_t chunk_window, client_role role) noexcept
  : window_(chunk_window), role_(role) {}

void client_end::on(chunk_batch&& x) {
  if (ended_ || returning_)
    return;
  if (!is_next(x.first))
    return;
  // An empty batch would take memory and spend no credit.
  if (x.size == 0)
    return on_lost(fail(errc::data_loss, "a batch has no chunks"));
  if (!has_room_for(x.size))
    return on_lost(overrun_error());
  next_ += x.size;
  gain(x.input_credit);
  if (heard_turns_ > 0)
    return skip(x.size);
  count_arrived(x.size);
  unread_.emplace_back(std::move(x));
}

void client_end::on(turn_end&& x) {
  if (returning_)
    return;
  if (x.last.size > 0)
    on(std::move(x.last));
  else if (!ended_ && is_next(x.last.first))
    gain(x.last.input_credit);
  if (ended_)
    return;
  if (!has_room_for(1))
    return on_lost(overrun_error());
  ++next_;
  stored_inputs_ = std::max(stored_inputs_, x.stored_inputs);
  if (waits_for_store())
    acknowledge(x.stored_inputs);
  if (heard_turns_ > 0) {
    --heard_turns_;
    return skip(1);
  }
  ++turn_;
  count_arrived(1);
  unread_.emplace_back(std::move(x));
}

void client_end::on(completion&& x) {
  if (ended_ || returning_)
    return;
  if (!x.reason && x.length != next_)
    return on_lost(
      fail(errc::data_loss, std::to_string(x.length)
                              + " chunks and ends of turns were sent, "
                              + std::to_string(next_) + " arrived"));
  ended_ = true;
  taken_inputs_ = x.inputs;
  failure_ = std::move(x.reason);
  (failure_ ? state_ : output_) = std::move(x.output);
}

void client_end::add_state_to_failure() {
  if (failure_ && state_)
    failure_ = with_state(failure_, state_);
}

void client_end::on_lost(caf::error reason) {
  if (std::exchange(ended_, true))
    return;
  failure_ = std::move(reason);
}

void client_end::reject(caf::error reason) {
  ended_ = true;
  unread_.clear();
  unread_count_ = 0;
  if (!failure_)
    failure_ = std::move(reason);
}

open_options client_end::begin_to_return() {
  returning_ = true;
  open_options result;
  // What has arrived and was not granted again takes its part of the window. A
  // rendezvous asks again for the chunk that was lost.
  result.chunk_window
    = window_ == 0 ? (demand_ ? 1 : 0) : window_ - std::min(window_, held_);
  auto& chosen = result.attach.emplace();
  chosen.run = run_;
  chosen.after = next_;
  chosen.role = role_;
  chosen.back_as = reader_;
  return result;
}

std::vector<turn_input> client_end::on_returned(const open_result& x) {
  returning_ = false;
  if (role_ == client_role::listener)
    sent_inputs_ = x.attached.inputs; // those of the talker
  if (x.attached.run == run_ && x.attached.next == next_
      && x.attached.inputs <= sent_inputs_)
    return resend(x);
  on_lost(fail(errc::data_loss, "the run continues at another position"));
  return {};
}

std::vector<turn_input> client_end::resend(const open_result& x) {
  reader_ = x.attached.reader;
  input_credit_ = x.input_credit;
  foreign_inputs_ = untaken_in(x.attached);
  if (!waits_for_store())
    acknowledge(x.attached.inputs);
  unsent_ = std::min<std::uint64_t>(sent_inputs_ - x.attached.inputs,
                                    unacknowledged_.size());
  return due_inputs();
}

std::vector<turn_input> client_end::due_inputs() {
  std::vector<turn_input> result;
  for (; unsent_ > 0 && input_credit_ > 0; --unsent_, --input_credit_)
    result.emplace_back(unacknowledged_[unacknowledged_.size() - unsent_], 0,
                        sent_inputs_ - unsent_, reader_);
  return result;
}

void client_end::acknowledge(std::uint64_t until) {
  auto number = sent_inputs_ - unacknowledged_.size();
  for (; !unacknowledged_.empty() && number < until; ++number)
    unacknowledged_.pop_front();
}

// -- a session that is opened again -------------------------------------------

open_options client_end::begin_to_reopen(const open_options& first) {
  auto result = first;
  const auto again = begin_to_return();
  result.chunk_window = again.chunk_window;
  result.session = session_;
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
  if (at.inputs > sent_inputs_)
    return lose(errc::aborted, "another client has continued the session");
  if (at.turn > turn_ + max_window || at.taken > at.inputs)
    return lose(errc::data_loss, "the position of the session is impossible");
  if (at.inputs < stored_inputs_)
    return lose(errc::data_loss,
                "the session has lost inputs that it had confirmed: it has "
                  + std::to_string(at.inputs));
  if (at.inputs < sent_inputs_ - unacknowledged_.size())
    return lose(errc::unavailable, "the run was lost with inputs of another "
                                   "client that were not stored");
  drop_open_turn();
  run_ = at.run;
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
    unread_.emplace_back(std::move(unheard));
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

void client_end::skip(std::uint32_t count) {
  held_ += window_ == 0 ? 0 : count;
  demand_ = false;
  count_consumed(count);
  read_ = next_;
}

void client_end::gain(std::uint32_t inputs) {
  if (returning_)
    return;
  input_credit_ += inputs;
  // The body has taken as many inputs: first those that the run had when this
  // client attached.
  const auto foreign = std::min<std::uint64_t>(inputs, foreign_inputs_);
  foreign_inputs_ -= foreign;
  if (waits_for_store())
    return;
  inputs -= static_cast<std::uint32_t>(foreign);
  for (; inputs > 0 && !unacknowledged_.empty(); --inputs)
    unacknowledged_.pop_front();
}

client_end::arrival client_end::next() const noexcept {
  if (unread_.empty())
    return ended_ ? arrival::end : arrival::none;
  return std::holds_alternative<turn_end>(unread_.front()) ? arrival::turn_end
                                                           : arrival::chunks;
}

chunk_batch client_end::take_chunks() {
  auto result = std::move(std::get<chunk_batch>(unread_.front()));
  unread_.pop_front();
  unread_count_ -= result.size;
  count_read(result.size);
  return result;
}

void client_end::take_turn_end() {
  auto& end = std::get<turn_end>(unread_.front());
  last_snapshot_ = std::move(end.snapshot);
  finish_reason_ = end.finish_reason;
  const auto is_unheard = end.last.first == unnumbered;
  unread_.pop_front();
  if (is_unheard)
    return; // it came without a message
  --unread_count_;
  count_read(1);
  count_consumed(1);
}

void client_end::count_read(std::uint32_t count) noexcept {
  const auto before = std::min<std::uint64_t>(count, earlier_);
  earlier_ -= before;
  read_ += count - before;
}

void client_end::drop_unread() {
  count_consumed(unread_count_);
  unread_.clear();
  unread_count_ = 0;
  earlier_ = 0;
  read_ = next_;
}

std::uint32_t client_end::credit_due(bool waiting) noexcept {
  if (ended_ || returning_)
    return 0;
  if (window_ == 0) {
    consumed_ = 0;
    return waiting && !std::exchange(demand_, true) ? 1 : 0;
  }
  // Half a window at a time: the body never starves, and many chunks share one
  // credit message.
  return consumed_ * 2 >= window_ ? take_credit() : 0;
}

std::uint32_t client_end::take_credit() noexcept {
  if (returning_)
    return 0; // it would go to a reader that is gone
  const auto result = std::exchange(consumed_, 0);
  if (window_ == 0)
    return 0;
  held_ -= result;
  return result;
}

bool client_end::is_next(std::uint64_t number) {
  if (number != next_)
    on_lost(fail(errc::data_loss, "expected number " + std::to_string(next_)
                                    + " of the log, got "
                                    + std::to_string(number)));
  return number == next_;
}

void client_end::count_arrived(std::uint32_t count) noexcept {
  demand_ = false;
  unread_count_ += count;
  held_ += window_ == 0 ? 0 : count;
}

bool client_end::has_room_for(std::uint32_t count) const noexcept {
  // A rendezvous grants one credit at a time.
  return std::uint64_t{unread_count_} + count <= std::max(window_, 1u);
}

caf::error client_end::overrun_error() const {
  return fail(errc::resource_exhausted,
              "the connection sent more than it had credit for: over "
                + std::to_string(unread_count_)
                + " chunks are unread, of a window of "
                + std::to_string(window_));
}

caf::error client_end::send_error() const {
  // A cancel or close by the client takes precedence: the client knows of it,
  // while the action may end sooner or later.
  if (cancelled_)
    return fail(errc::cancelled, "the connection was cancelled");
  if (closed_)
    return fail(errc::failed_precondition, "the input is closed");
  if (ended_)
    return failure_
             ? failure_
             : fail(errc::failed_precondition, "the connection has finished");
  return caf::none;
}

caf::error lost_connection(const caf::error& exit_reason) {
  const auto code = code_of(exit_reason);
  return fail(
    code == errc::unavailable || code == errc::internal ? code : errc::aborted,
    "the connection was lost: " + caf::to_string(exit_reason));
}

} // namespace tertulia::detail
