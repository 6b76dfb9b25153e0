// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/host.hpp>
#include <tertulia/detail/letter_box.hpp>
#include <tertulia/detail/timer.hpp>

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/atom.hpp>
#include <caf/sec.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace tertulia::detail {

host::host(host_actor::pointer self)
  : root(*this, scheduled_), limits(self), self_(self) {}

host::~host() = default;

host::wait_lists& host::waits() {
  if (!waits_)
    waits_ = std::make_unique<wait_lists>();
  return *waits_;
}

std::uint64_t host::register_wait(wait& x) {
  waits().entries.push_back(wait_entry{++last_id_, &x, time_point::max()});
  return last_id_;
}

std::uint64_t host::register_wait(wait& x, caf::timespan within, bool vital) {
  const auto due = limits.expire_after(within);
  waits().entries.push_back(wait_entry{++last_id_, &x, due, vital});
  return last_id_;
}

bool host::expects_death(std::uint64_t id, const caf::error& reason) {
  // An answer that the actor has passed on from another one has a sender.
  if (reason != caf::sec::request_receiver_down || self_->current_sender())
    return false;
  auto& watched = waits().watched;
  const auto found = std::find_if(watched.begin(), watched.end(),
                                  [=](const auto& x) { return x.id == id; });
  if (found == watched.end() || found->who.node() != self_->node())
    return false;
  const auto who = caf::actor_cast<caf::actor>(found->who);
  if (!who)
    return false;
  found->is_unanswered = true;
  // CAF itself answers this in every actor that lives. The wait limits the
  // time.
  self_
    ->request(who, caf::infinite, caf::sys_atom::value, caf::get_atom::value,
              std::string{"info"})
    .then(
      [this, id, reason](caf::ok_atom, const std::string&,
                         const caf::strong_actor_ptr&, const std::string&) {
        if (auto* waiting = take_wait(id))
          waiting->abort(reason);
        drain();
      },
      [](const caf::error&) {
        // It is dead, and its down message follows.
      });
  return true;
}

wait* host::take_wait(std::uint64_t id) noexcept {
  if (!waits_)
    return nullptr;
  auto& entries = waits_->entries;
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [=](const auto& x) { return x.id == id; });
  if (found == entries.end())
    return nullptr;
  auto* result = found->waiter;
  entries.erase(found);
  return result;
}

letter_boxes& host::letters() {
  if (!letters_)
    letters_ = std::make_unique<letter_boxes>(self_);
  return *letters_;
}

void host::watch_peer(std::uint64_t id, caf::actor_control_block* actor) {
  auto& [entries, all] = waits();
  const auto is_pending = [&pending = entries](const watched_request& request) {
    return std::any_of(pending.begin(), pending.end(),
                       [&](const auto& x) { return x.id == request.id; });
  };
  // A body that asks the same actor one question after another.
  if (all.size() == 1 && all[0].who.get() == actor && !is_pending(all[0])) {
    all[0].id = id;
    all[0].is_unanswered = false;
    return;
  }
  const auto other = caf::actor_cast<caf::actor_addr>(actor);
  const auto is_of = [](const caf::actor_addr& who) {
    return [&](const auto& x) { return x.who == who; };
  };
  // One monitor for each actor. It stays until another actor is asked, since a
  // body often asks the same one again.
  const auto is_monitored
    = monitors(other) || std::any_of(all.begin(), all.end(), is_of(other));
  // Answered requests are removed here: only few are pending at a time.
  for (auto i = all.begin(); i != all.end();) {
    if (is_pending(*i)) {
      ++i;
      continue;
    }
    const auto who = i->who;
    i = all.erase(i);
    if (who != other && !monitors(who)
        && std::none_of(all.begin(), all.end(), is_of(who)))
      self_->demonitor(who);
  }
  all.push_back({other, id});
  if (!is_monitored)
    self_->monitor(caf::actor_cast<caf::strong_actor_ptr>(other));
}

void host::expire_waits() {
  const auto now = limits.take_expiry();
  if (!now)
    return;
  std::vector<std::uint64_t> late; // one may end another
  auto lost = false;
  auto next = time_point::max();
  for (const auto& x : waits().entries)
    if (x.due <= *now) {
      late.push_back(x.id);
      lost = lost || x.vital;
    } else {
      next = std::min(next, x.due);
    }
  limits.expire_at(next);
  for (const auto id : late)
    if (auto* const x = take_wait(id))
      x->abort(fail(errc::deadline_exceeded, "no answer came in time"));
  if (lost)
    root.cancel(fail(errc::deadline_exceeded,
                     "the session did not answer in time: it is "
                     "unknown what its store has saved"));
}

void host::abort_waits_for(const caf::actor_addr& other,
                           const caf::error& reason,
                           const caf::error& exit_reason) {
  if (!waits_)
    return;
  const auto may_have_delegated = !exit_reason && other.node() == self_->node();
  for (const auto& x : waits_->watched)
    if (x.who == other && (x.is_unanswered || !may_have_delegated))
      if (auto* waiting = take_wait(x.id))
        waiting->abort(reason);
  std::erase_if(waits_->watched, [&](const auto& x) { return x.who == other; });
}

void host::close_letters() noexcept {
  letters_.reset();
}

void host::forget_waits() {
  limits.stop();
  if (waits_)
    for (const auto& x : waits_->watched)
      self_->demonitor(x.who);
}

} // namespace tertulia::detail
