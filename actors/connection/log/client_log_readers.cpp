// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "client_log.hpp"
#include "connection_state.hpp"

// Clients that read the log.

namespace tertulia::detail {

bool client_log::is_remote(const chunk_sink& sink) const noexcept {
  return sink.node() != owner_.self()->node();
}

void client_log::open(chunk_sink talker) {
  talker_ = std::move(talker);
  owner_.self()->monitor(talker_);
}

void client_log::keep(limits most, std::uint64_t client_number,
                      std::uint32_t chunk_window, snapshot_id snapshot) {
  history_ = std::make_unique<history>();
  history_->most = most;
  history_->dropped.snapshot = std::move(snapshot);
  history_->talker.sink = talker_;
  history_->talker.client_number = client_number;
  history_->talker.credit = chunk_window;
  history_->last_talker_name = history_->talker.name();
}

bool client_log::is_talker(std::uint32_t number) const noexcept {
  return talker_ && history_->talker.number == number;
}

bool client_log::reads(const caf::actor_addr& who) const noexcept {
  if (talker_ && talker_.address() == who)
    return true;
  return history_
         && std::any_of(history_->listeners.begin(), history_->listeners.end(),
                        [&](const auto& x) { return x.sink.address() == who; });
}

bool client_log::reads(const client_name& who) const noexcept {
  const auto is = [&](const reader& x) { return x.name() == who; };
  return (talker_ && is(history_->talker))
         || std::any_of(history_->listeners.begin(), history_->listeners.end(),
                        is);
}

bool client_log::is_outdated(const client_name& x) const noexcept {
  return talker_ && talker_.address() == x.sink
         && history_->talker.client_number > x.number;
}

std::uint32_t client_log::attach(chunk_sink sink, std::uint64_t client_number,
                                 client_role role, std::uint64_t position,
                                 std::uint32_t chunk_window) {
  auto& h = *history_;
  if (!reads(sink.address()))
    owner_.self()->monitor(sink);
  const client_name name{sink.address(), client_number};
  std::erase_if(h.listeners, [&](const auto& x) { return x.name() == name; });
  if (talker_ && h.talker.name() == name) {
    h.ended_talker.reset(); // it has not read the end
    h.talker = {};
    talker_ = nullptr;
  }
  reader added;
  added.number = ++h.last_number;
  added.sink = std::move(sink);
  added.client_number = client_number;
  added.next = position;
  added.credit = chunk_window;
  if (role == client_role::listener) {
    h.listeners.push_back(std::move(added));
    return h.last_number;
  }
  h.last_talker = added.number;
  h.last_talker_name = added.name();
  auto before = std::exchange(h.talker, std::move(added));
  talker_ = h.talker.sink;
  if (before.sink)
    remove(before, fail(errc::aborted, "another client has taken over"));
  return h.last_number;
}

void client_log::dismiss(std::uint32_t number, const caf::error& reason) {
  auto* const found = find(number);
  if (found == nullptr)
    return;
  auto who = std::move(*found);
  if (history_->ended_talker == number)
    history_->ended_talker.reset(); // it has not read the end
  if (found == &history_->talker) {
    history_->talker = {};
    talker_ = nullptr;
  } else {
    std::erase_if(history_->listeners,
                  [&](const auto& x) { return &x == found; });
  }
  remove(who, reason);
}

void client_log::remove(reader& who, const caf::error& reason) {
  if (reason && !who.was_sent_end)
    owner_.self()->send(who.sink, completion{{},
                                             is_remote(who.sink)
                                               ? owner_.error_for_remote(reason)
                                               : reason,
                                             history_->end,
                                             owner_.inputs_taken(),
                                             who.number});
  if (!owner_.monitors(who.sink.address()))
    owner_.self()->demonitor(who.sink.address());
}

void client_log::dismiss_unserved(const caf::error& reason) {
  std::vector<std::uint32_t> numbers; // each removal moves the listeners
  if (talker_ && !history_->talker.was_sent_end)
    numbers.push_back(history_->talker.number);
  for (const auto& x : history_->listeners)
    if (!x.was_sent_end)
      numbers.push_back(x.number);
  for (const auto number : numbers)
    dismiss(number, reason);
}

void client_log::forget(const caf::actor_addr& who) {
  if (!history_)
    return;
  std::erase_if(history_->listeners,
                [&](const auto& x) { return x.sink.address() == who; });
  if (talker_ && talker_.address() == who) {
    history_->talker = {};
    talker_ = nullptr;
  }
}

void client_log::close() noexcept {
  if (talker_)
    owner_.self()->demonitor(talker_.address());
  if (history_)
    for (const auto& x : history_->listeners)
      owner_.self()->demonitor(x.sink.address());
}

void client_log::give_credit(std::uint32_t inputs) {
  owner_.self()->send(
    talker_, input_credit{inputs, history_ ? history_->talker.number : 0});
}

client_log::reader* client_log::find(std::uint32_t number) noexcept {
  if (is_talker(number))
    return &history_->talker;
  auto& all = history_->listeners;
  const auto found = std::find_if(all.begin(), all.end(), [=](const auto& x) {
    return x.number == number;
  });
  return found != all.end() ? &*found : nullptr;
}

void client_log::grant(std::uint32_t number, std::uint32_t chunks) {
  if (auto* const to = find(number)) {
    to->credit = std::min<std::uint64_t>(to->credit + chunks, max_window);
    serve(number);
  }
}

void client_log::serve(std::uint32_t number) {
  if (auto* const to = find(number))
    serve(*to);
  remove_failed();
  trim();
}

std::int64_t client_log::room() const noexcept {
  const auto& talker = history_->talker;
  return static_cast<std::int64_t>(talker.credit)
         - static_cast<std::int64_t>(history_->end - talker.next);
}

} // namespace tertulia::detail
