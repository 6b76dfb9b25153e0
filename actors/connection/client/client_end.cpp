// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/chunk_cursor.hpp>
#include <tertulia/detail/client_end.hpp>
#include <tertulia/json.hpp>
#include <tertulia/status.hpp>

#include <algorithm>
#include <atomic>
#include <string>

#include <fmt/format.h>

namespace tertulia::detail {

namespace {

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
  throw status_error{errc::data_loss, fmt::format("a batch of {} chunks has {}",
                                                  expected, found)};
}

std::uint64_t new_client_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

client_end::client_end(std::uint32_t chunk_window, client_role role) noexcept
  : window_(chunk_window), role_(role) {}

client_end::client_end(const open_request& x)
  : client_end(x.options.chunk_window, x.options.attach ? x.options.attach->role
                                                        : client_role::talker) {
  carried_ = static_cast<std::uint32_t>(x.inputs.size());
  closed_ = x.closes;
  if (x.options.disconnect != on_disconnect::cancel)
    inputs_.hold(x.inputs);
}

void client_end::on(const open_result& x) {
  input_credit_ = x.input_credit;
  names_.start(x);
  turn_found_ = x.turn;
  reader_ = x.attached.reader;
  next_ = read_ = x.attached.next;
  turn_ = first_turn_ = x.attached.turn;
  taken_inputs_ = first_inputs_ = x.attached.inputs;
  foreign_inputs_ = untaken_in(x.attached);
  // Of a run that has begun, or that another client has opened, it is not known
  // what is stored.
  const auto is_new
    = x.attached.next == 0 && reader_ == 0 && !x.attached.is_in_turn;
  stored_inputs_ = is_new ? x.attached.taken : 0;
  grace_ = x.attached.grace;
  is_stored_ = x.attached.is_stored && x.attached.run;
  opened_in_turn_ = x.attached.is_in_turn;
  const auto are_taken = turn_found_ == turn_progress::not_begun;
  inputs_.set_count(first_inputs_ + (are_taken ? carried_ : 0));
  if (are_taken)
    input_credit_ -= std::min(input_credit_, carried_);
  carried_ = 0;
  if (!are_taken || !run())
    inputs_.drop_all();
}

void client_end::on(chunk_batch&& x) {
  if (!accepts(x.reader))
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
  unread_.push_back(std::move(x));
}

void client_end::on(turn_end&& x) {
  if (!accepts(x.last.reader))
    return;
  if (x.last.size > 0)
    on(std::move(x.last));
  else if (is_next(x.last.first))
    gain(x.last.input_credit);
  if (ended_)
    return;
  if (!has_room_for(1))
    return on_lost(overrun_error());
  ++next_;
  stored_inputs_ = std::max(stored_inputs_, x.stored_inputs);
  if (waits_for_store())
    inputs_.drop_until(x.stored_inputs);
  if (heard_turns_ > 0) {
    --heard_turns_;
    return skip(1);
  }
  ++turn_;
  count_arrived(1);
  unread_.push_back(std::move(x));
}

void client_end::on(completion&& x) {
  if (!accepts(x.reader))
    return;
  if (!x.reason && x.length != next_)
    return on_lost(
      fail(errc::data_loss,
           fmt::format("{} chunks and ends of turns were sent, {} arrived",
                       x.length, next_)));
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

void client_end::skip(std::uint32_t count) {
  held_ += window_ == 0 ? 0 : count;
  demand_ = false;
  count_consumed(count);
  read_ = next_;
}

void client_end::gain(std::uint32_t inputs) {
  input_credit_ += inputs;
  // The body has taken as many inputs: first those that the run had when this
  // client attached.
  const auto foreign = std::min<std::uint64_t>(inputs, foreign_inputs_);
  foreign_inputs_ -= foreign;
  if (waits_for_store())
    return;
  inputs_.drop(inputs - foreign);
}

client_end::arrival client_end::next() const noexcept {
  if (unread_.empty())
    return ended_ ? arrival::end : arrival::none;
  return std::holds_alternative<turn_end>(unread_.front()) ? arrival::turn_end
                                                           : arrival::chunks;
}

chunk_batch client_end::take_chunks() {
  auto result = std::get<chunk_batch>(unread_.pop_front());
  unread_count_ -= result.size;
  count_read(result.size);
  return result;
}

void client_end::take_turn_end() {
  auto end = std::get<turn_end>(unread_.pop_front());
  names_.set_last_snapshot(std::move(end.snapshot));
  finish_reason_ = end.finish_reason;
  if (end.last.first == unnumbered)
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
    on_lost(
      fail(errc::data_loss, fmt::format("expected number {} of the log, got {}",
                                        next_, number)));
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
              fmt::format("the connection sent more than it had credit for: "
                          "over {} chunks are unread, of a window of {}",
                          unread_count_, window_));
}

turn_input client_end::message_for(payload value) {
  turn_input result{std::move(value), take_credit()};
  const auto number = inputs_.add();
  if (run()) {
    result.number = number;
    result.reader = reader_;
    inputs_.hold(result.value);
  }
  return result;
}

bool client_end::leave() {
  if (ended_)
    return false;
  reject(fail(errc::failed_precondition, "the client has detached"));
  return true;
}

std::uint64_t client_end::unread_inputs() const noexcept {
  if (!ended_)
    return 0;
  const auto sent = inputs_.count();
  return carried_ + (sent > taken_inputs_ ? sent - taken_inputs_ : 0);
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
    fmt::format("the connection was lost: {}", caf::to_string(exit_reason)));
}

} // namespace tertulia::detail
