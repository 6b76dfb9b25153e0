// SPDX-License-Identifier: BSD-3-Clause

#include "snapshot_requests.hpp"

#include <tertulia/detail/environment.hpp>

#include <utility>

#include "connection_state.hpp"

namespace tertulia::detail {

void snapshot_requests::add(snapshot_wait& part) {
  request x;
  x.event = part.event;
  x.part = &part;
  queue_.push_back(std::move(x));
  if (phase_ == phase::idle)
    start_first();
}

void snapshot_requests::add(caf::strong_actor_ptr sender, std::uint64_t number,
                            promise answer) {
  // A flow on this node withdraws its requests when it ends, a lost node does
  // not.
  if (sender->node() != owner_.self()->node()
      && !owner_.monitors(sender->address()))
    owner_.self()->monitor(sender);
  owner_.has_turn_snapshot = false;
  request x;
  x.sender = std::move(sender);
  x.number = number;
  x.answer = std::move(answer);
  queue_.push_back(std::move(x));
  if (phase_ == phase::idle)
    start_first();
}

void snapshot_requests::withdraw(const snapshot_wait& part) {
  withdraw_if([&](const request& x) { return x.part == &part; });
}

void snapshot_requests::withdraw(const caf::actor_addr& sender,
                                 std::optional<std::uint64_t> number) {
  withdraw_if([&](const request& x) {
    return x.sender && x.sender->address() == sender
           && (!number || *number == x.number);
  });
}

template <class Predicate>
void snapshot_requests::withdraw_if(Predicate matches) {
  const auto withdrawn = fail(errc::cancelled, "the request was withdrawn");
  const auto first_stays = phase_ == phase::session;
  const auto first_leaves
    = phase_ == phase::credit && matches(std::as_const(queue_.front()));
  std::erase_if(queue_, [&](request& x) {
    if (!matches(std::as_const(x)))
      return false;
    x.part = nullptr;
    answer(x, withdrawn);
    return !first_stays || &x != &queue_.front();
  });
  if (!first_leaves)
    return;
  owner_.out.remove(*this);
  outcome_.reset();
  start_first();
}

void snapshot_requests::start_first() {
  phase_ = phase::idle;
  if (!owner_.can_make_snapshots())
    for (auto& x : std::exchange(queue_, {}))
      answer(x, fail(errc::failed_precondition, "the conversation has ended"));
  if (queue_.empty())
    return;
  has_credit_ = false;
  const auto& policy = owner_.conversation().policy;
  if (policy.makes_snapshots() && policy.notice
      && queue_.front().event != snapshot_event::invocation_end)
    take_credit();
  else
    ask_session();
}

void snapshot_requests::take_credit() {
  phase_ = phase::credit;
  if (owner_.out.reserve())
    on_credit();
  else
    owner_.out.wait_for_credit(*this);
}

void snapshot_requests::on_credit() {
  has_credit_ = true;
  if (outcome_)
    finish_first(*std::exchange(outcome_, std::nullopt));
  else
    ask_session();
}

void snapshot_requests::ask_session() {
  phase_ = phase::session;
  // The client may take as long as it likes to grant credit, the session not.
  wait_id_ = owner_.register_wait(
    *this, owner_.conversation().policy.store_within, true);
  auto what = owner_.trigger_of(queue_.front().event);
  if (what.event == snapshot_event::turn_end)
    what.finish_reason = owner_.finish_reason;
  else if (what.event == snapshot_event::invocation_end)
    what.finish_reason = owner_.last_finish_reason;
  owner_.self()
    ->request(owner_.responder(), caf::infinite, what)
    .then([this](snapshot_outcome& x) { on_outcome(std::move(x)); },
          [this](caf::error& reason) { on_outcome(std::move(reason)); });
}

void snapshot_requests::on_outcome(caf::expected<snapshot_outcome> result) {
  owner_.take_wait(wait_id_);
  if (result)
    owner_.note_stored(*result);
  if (result && result->created && !has_credit_
      && owner_.conversation().policy.notice) {
    outcome_ = std::move(*result);
    take_credit();
  } else {
    finish_first(std::move(result));
  }
  owner_.drain();
}

void snapshot_requests::abort(const caf::error& reason) {
  owner_.take_wait(wait_id_);
  answer(queue_.front(), reason);
}

void snapshot_requests::finish_first(caf::expected<snapshot_outcome> result) {
  auto first = std::move(queue_.front());
  queue_.erase(queue_.begin());
  const auto has_news = result && result->created;
  const auto has_credit = std::exchange(has_credit_, false);
  // First, because a chunk that cannot be sent, or another part that gets the
  // credit, may cancel the body. The part that is answered runs later.
  phase_ = phase::idle;
  answer(first, result);
  if (has_credit && has_news)
    owner_.add_chunk(owner_.conversation().policy.notice(result->id));
  else if (has_credit)
    owner_.out.release();
  if (phase_ == phase::idle)
    start_first();
}

void snapshot_requests::answer(request& x,
                               const caf::expected<snapshot_outcome>& result) {
  if (x.part != nullptr) {
    auto& part = *std::exchange(x.part, nullptr);
    if (result)
      part.succeed(*result);
    else
      part.fail(result.error());
  }
  if (const auto sender = std::exchange(x.sender, nullptr)) {
    if (sender->node() != owner_.self()->node()
        && !owner_.monitors(sender->address()))
      owner_.self()->demonitor(sender->address());
    if (result)
      x.answer.deliver(*result);
    else
      x.answer.deliver(result.error());
  }
}

} // namespace tertulia::detail
