// SPDX-License-Identifier: BSD-3-Clause

#include "client_log.hpp"

#include <tertulia/status.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "connection_state.hpp"

namespace tertulia::detail {

// -- entries ------------------------------------------------------------------

void client_log::add(chunk_batch x) {
  if (!history_)
    return owner_.self()->send(talker_, std::move(x));
  const auto input_credit = std::exchange(x.input_credit, 0);
  entry added{x.first, x.size, sizeof(entry) + x.items.footprint(),
              chunk_batch{}};
  added.content = std::move(x);
  record(std::move(added), input_credit);
}

void client_log::add(turn_end x) {
  if (!history_)
    return owner_.self()->send(talker_, std::move(x));
  const auto input_credit = std::exchange(x.last.input_credit, 0);
  entry added{x.last.first, x.last.size + std::uint64_t{1},
              sizeof(entry) + x.last.items.footprint(), turn_end{}};
  added.content = std::move(x);
  record(std::move(added), input_credit);
}

void client_log::finish(completion x) {
  if (!history_)
    return owner_.self()->send(talker_, std::move(x));
  x.length = history_->end;
  history_->ending = std::move(x);
  if (talker_)
    serve(history_->talker);
  for (auto& x : history_->listeners)
    serve(x);
  remove_failed();
}

void client_log::confirm(std::uint32_t number) {
  if (auto* const who = find(number))
    who->knows_end = true;
  if (history_->ended_talker == number)
    history_->talker_knew_end = true;
}

void client_log::deliver_end(std::uint32_t number) {
  if (auto* const who = find(number))
    who->was_delivered_end = true;
}

bool client_log::talker_knows_end() const noexcept {
  return history_->talker_knew_end || (talker_ && history_->talker.knows_end);
}

bool client_log::all_know_end() const noexcept {
  const auto& all = history_->listeners;
  return (!talker_ || history_->talker.knows_end)
         && std::all_of(all.begin(), all.end(),
                        [](const auto& x) { return x.knows_end; });
}

bool client_log::is_asking() const noexcept {
  const auto owes_answer = [this](const reader& x) {
    return x.was_sent_end && !x.was_delivered_end && !x.knows_end
           && is_remote(x.sink);
  };
  const auto& all = history_->listeners;
  return owes_answer(history_->talker)
         || std::any_of(all.begin(), all.end(), owes_answer);
}

std::uint64_t client_log::begin() const noexcept {
  return history_->entries.empty() ? history_->end
                                   : history_->entries.front().first;
}

std::uint64_t client_log::end() const noexcept {
  return history_->end;
}

std::uint64_t client_log::turn_start() const noexcept {
  return history_->turn_start;
}

client_log::standing client_log::at(std::uint64_t position) const {
  auto result = history_->dropped;
  for (const auto& x : history_->entries) {
    if (x.end() > position)
      break;
    if (const auto* end = std::get_if<turn_end>(&x.content)) {
      ++result.turns;
      if (end->snapshot)
        result.snapshot = end->snapshot;
    }
  }
  return result;
}

void client_log::record(entry added, std::uint32_t input_credit) {
  auto& h = *history_;
  if (h.end == h.turn_start) { // another turn begins
    h.older_bytes += std::exchange(h.last_bytes, 0);
    h.last_start = added.first;
  }
  h.end = added.end();
  h.last_bytes += added.bytes;
  const auto ends_turn = std::holds_alternative<turn_end>(added.content);
  h.entries.push_back(std::move(added));
  if (ends_turn)
    h.turn_start = h.end;
  if (talker_) {
    h.talker_inputs += input_credit;
    serve(h.talker);
    if (h.talker_inputs > 0)
      give_credit(std::exchange(h.talker_inputs, 0));
  }
  for (auto& x : h.listeners)
    serve(x);
  remove_failed();
  trim();
}

void client_log::serve(reader& to) {
  auto& h = *history_;
  while (to.next < h.end && to.credit > 0 && !to.failure) {
    if (to.next < begin()) {
      to.failure = owner_.lost_position(to.next);
      return;
    }
    const auto after = std::upper_bound(
      h.entries.begin(), h.entries.end(), to.next,
      [](std::uint64_t n, const entry& x) { return n < x.first; });
    auto& from = *std::prev(after);
    const auto count = std::min(to.credit, from.end() - to.next);
    try {
      send(to, from, to.next, count);
    } catch (...) { // it cannot be encoded for another node
      to.failure = current_exception_to_error();
      if (&to == &h.talker)
        owner_.root.cancel(to.failure);
      return;
    }
    to.next += count;
    to.credit -= count;
  }
  if (to.next == h.end && h.ending && !to.was_sent_end && !to.failure)
    send_end(to);
}

void client_log::send(reader& to, entry& from, std::uint64_t first,
                      std::uint64_t count) {
  auto* const end = std::get_if<turn_end>(&from.content);
  const auto& chunks
    = end != nullptr ? end->last : std::get<chunk_batch>(from.content);
  const auto skipped = first - from.first;
  const auto has_end = end != nullptr && skipped + count == from.length;
  const auto size = count - (has_end ? 1 : 0);
  chunk_batch part;
  part.first = first;
  part.size = static_cast<std::uint32_t>(size);
  part.reader = to.number;
  if (size > 0) {
    auto items = chunks.items;
    if (is_remote(to.sink)) {
      if (!from.sealed)
        from.sealed = items.sealed();
      items = from.sealed;
    }
    part.items
      = size == chunks.size ? std::move(items) : items.slice(skipped, size);
  }
  if (&to == &history_->talker)
    part.input_credit = std::exchange(history_->talker_inputs, 0);
  if (has_end)
    owner_.self()->send(to.sink,
                        turn_end{end->turn, std::move(part), end->snapshot,
                                 end->finish_reason, end->stored_inputs});
  else
    owner_.self()->send(to.sink, std::move(part));
}

void client_log::send_end(reader& to) {
  auto x = *history_->ending;
  x.reader = to.number;
  to.was_sent_end = true;
  if (&to == &history_->talker)
    history_->ended_talker = to.number;
  if (!is_remote(to.sink))
    return owner_.self()->send(to.sink, std::move(x));
  try {
    x.output = x.output.sealed();
  } catch (...) {
    x.output = {};
    if (!x.reason)
      x.reason = current_exception_to_error();
  }
  if (x.reason)
    x.reason = owner_.error_for_remote(x.reason);
  owner_.deliver_end(to.number, to.sink, std::move(x));
}

void client_log::remove_failed() {
  auto& h = *history_;
  if (h.talker.failure)
    dismiss(h.talker.number, caf::error{h.talker.failure});
  // A copy of the numbers: each removal moves the listeners.
  std::vector<std::uint32_t> failed;
  for (const auto& x : h.listeners)
    if (x.failure)
      failed.push_back(x.number);
  for (const auto number : failed)
    dismiss(number, caf::error{find(number)->failure});
}

// -- bounds -------------------------------------------------------------------

void client_log::trim() {
  auto& h = *history_;
  const auto limit = talker_ ? h.talker.next : h.end;
  auto in_turn = false; // whether a part of an older turn was dropped
  while (
    !h.entries.empty() && h.entries.front().end() <= limit
    && (in_turn || h.older_bytes > h.most.run || h.last_bytes > h.most.turn)) {
    const auto& first = h.entries.front();
    const auto is_older = first.first < h.last_start;
    const auto* end = std::get_if<turn_end>(&first.content);
    (is_older ? h.older_bytes : h.last_bytes) -= first.bytes;
    if (end != nullptr) {
      ++h.dropped.turns;
      if (end->snapshot)
        h.dropped.snapshot = end->snapshot;
    }
    in_turn = is_older && end == nullptr;
    h.entries.pop_front();
  }
}

} // namespace tertulia::detail
