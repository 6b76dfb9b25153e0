// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/conversation.hpp>
#include <tertulia/detail/access.hpp>
#include <tertulia/detail/session_policy.hpp>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <vector>

// Conditions for snapshots. A callback is called at every event and decides
// whether to make a snapshot:
//
//   with_snapshot_callback(snapshot_on{snapshot_event::turn_end})
//   with_snapshot_callback([](const snapshot_context<words>& x) {
//     return x.turn_index() % 3 == 0;
//   })
//
// Design: docs/sessions.md#sessions; docs/genkit.md 000 §1.3, §1.4, §3; 003 §3;
// 004 §3.

namespace tertulia {

/// Context of a snapshot callback, independent of the type of the state.
///
/// @threads  only on the actor of the session, during the call.
/// @lifetime valid during the call only.
class snapshot_context_base {
public:
  [[nodiscard]] snapshot_event event() const noexcept {
    return moment_->event;
  }

  /// Returns the index that the snapshot would have in its timeline.
  [[nodiscard]] std::uint64_t index() const noexcept {
    return moment_->index;
  }

  [[nodiscard]] std::uint64_t turn_index() const noexcept {
    return moment_->turn_index;
  }

  /// Returns whether the state differs from that of the last snapshot, or no
  /// snapshot exists. Compares hashes; messages that were hashed before are not
  /// hashed again.
  /// @errors `invalid_argument` for a state without a JSON form.
  [[nodiscard]] bool changed() const {
    return moment_->previous == nullptr
           || moment_->present.id() != moment_->previous->id();
  }

protected:
  [[nodiscard]] const detail::snapshot_moment& moment() const noexcept {
    return *moment_;
  }

private:
  friend detail::access;

  explicit snapshot_context_base(const detail::snapshot_moment& moment) noexcept
    : moment_(&moment) {}

  const detail::snapshot_moment* moment_;
};

/// Context of the snapshot callback of an agent.
///
/// @threads  as `snapshot_context_base`.
/// @lifetime as `snapshot_context_base`.
/// @design   docs/genkit.md 000 §1.3.
template <class State>
class snapshot_context : public snapshot_context_base {
public:
  /// Type whose version is stored with a state.
  using value_type = State;

  using snapshot_context_base::snapshot_context_base;

  [[nodiscard]] const State& state() const noexcept {
    return *moment().present.custom().template get_if<State>();
  }

  /// Returns the state at the last snapshot of the session; null if none
  /// exists.
  [[nodiscard]] const State* prev_state() const noexcept {
    return moment().previous == nullptr
             ? nullptr
             : moment().previous->custom().template get_if<State>();
  }
};

/// Callback that makes a snapshot at every event.
///
/// @threads all members.
struct snapshot_always {
  bool operator()(const snapshot_context_base&) const noexcept {
    return true;
  }
};

/// Callback that never makes a snapshot: the default of agents and chat agents.
///
/// @threads all members.
struct snapshot_never {
  bool operator()(const snapshot_context_base&) const noexcept {
    return false;
  }
};

/// Callback that makes a snapshot at the given events.
///
/// @threads calls from any thread: they change nothing.
class snapshot_on {
public:
  snapshot_on(std::initializer_list<snapshot_event> events) : events_(events) {}

  bool operator()(const snapshot_context_base& x) const noexcept {
    for (const auto event : events_)
      if (event == x.event())
        return true;
    return false;
  }

private:
  std::vector<snapshot_event> events_;
};

/// Callback that makes a snapshot at the given events if the state has changed
/// since the last one.
///
/// @threads calls from any thread: they change nothing.
class snapshot_on_change {
public:
  snapshot_on_change(std::initializer_list<snapshot_event> events)
    : trigger_(events) {}

  bool operator()(const snapshot_context_base& x) const {
    return trigger_(x) && x.changed();
  }

private:
  snapshot_on trigger_;
};

namespace ai {

/// View of the state of a conversation; nothing is copied.
///
/// @threads  only on the actor of the session, during the call.
/// @lifetime valid during the call of a snapshot callback only.
template <class Custom>
class state_view {
public:
  [[nodiscard]] const message_log& messages() const noexcept {
    return state_->messages();
  }

  [[nodiscard]] const Custom& custom() const noexcept {
    return *state_->custom().template get_if<Custom>();
  }

  [[nodiscard]] const artifact_list& artifacts() const noexcept {
    return state_->artifacts();
  }

private:
  friend detail::access;

  explicit state_view(const state& source) noexcept : state_(&source) {}

  const state* state_;
};

/// Context of the snapshot callback of a chat agent or a session flow.
///
/// @threads  as `snapshot_context_base`.
/// @lifetime as `snapshot_context_base`.
/// @design   docs/genkit.md 003 §3.1, 004 §3.
template <class Custom>
class snapshot_context : public snapshot_context_base {
public:
  /// Type whose version is stored with a state.
  using value_type = Custom;

  using snapshot_context_base::snapshot_context_base;

  [[nodiscard]] state_view<Custom> state() const noexcept {
    return detail::access::make<state_view<Custom>>(moment().present);
  }

  /// Returns the state at the last snapshot; empty if none exists.
  [[nodiscard]] std::optional<state_view<Custom>> prev_state() const noexcept {
    if (moment().previous == nullptr)
      return std::nullopt;
    return detail::access::make<state_view<Custom>>(*moment().previous);
  }
};

} // namespace ai

} // namespace tertulia
