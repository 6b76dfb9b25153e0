// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/body_services.hpp>
#include <tertulia/detail/host_actor.hpp>
#include <tertulia/detail/inbox.hpp>
#include <tertulia/detail/outbox.hpp>
#include <tertulia/detail/scope.hpp>
#include <tertulia/detail/timer.hpp>
#include <tertulia/trace.hpp>

#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tertulia::detail {

class action;
class letter_boxes;
class nested_connection;
class snapshot_wait;

/// The actor that runs a body, as the waits and the handles of the body see it:
/// waits by number with their time-outs, the queues of inputs and chunks, and
/// the scope of the body.
///
/// @threads only on its actor.
/// @design  docs/engine.md#connection.
class host {
public:
  host(const host&) = delete;
  host& operator=(const host&) = delete;

  /// Returns the actor, for sending messages and requests.
  [[nodiscard]] host_actor::pointer self() const noexcept {
    return self_;
  }

  [[nodiscard]] virtual body_services& services() const noexcept = 0;

  /// Returns the action whose body runs.
  [[nodiscard]] virtual const std::shared_ptr<const action>&
  hosted_action() const noexcept = 0;

  // -- waits ------------------------------------------------------------------

  /// Schedules the coroutine for the next `drain`.
  void schedule(std::coroutine_handle<> waiting) {
    scheduled_.schedule(waiting);
  }

  /// Resumes the scheduled coroutines and sends the gathered chunks. Every
  /// handler that can schedule a coroutine calls this last.
  virtual void drain() = 0;

  /// Registers a wait.
  /// @returns its number, by which a reply can find it.
  std::uint64_t register_wait(wait& x);

  /// Registers a wait that is aborted with `deadline_exceeded` if it is not
  /// taken `within` that time.
  /// @param vital whether the connection cannot continue then, and is
  ///              cancelled.
  std::uint64_t register_wait(wait& x, caf::timespan within,
                              bool vital = false);

  /// Returns whether an error may be CAF's own answer for a watched actor of
  /// this node that has died. Its down message, which has the reason, then ends
  /// the wait of that number; or the error does, if the actor turns out to
  /// live: it has delegated the request to one that has died.
  [[nodiscard]] bool expects_death(std::uint64_t id, const caf::error& reason);

  /// Removes the wait of that number and returns it; null if it ended before.
  wait* take_wait(std::uint64_t id) noexcept;

  /// Aborts the wait of that number if `actor` is lost before it replies: CAF
  /// does not answer a request to a lost node, nor one that an actor has kept
  /// for later when it dies.
  void watch_peer(std::uint64_t id, caf::actor_control_block* actor);

  /// Returns whether the host itself monitors an actor, such as its client.
  /// CAF has no second monitor of one actor by another: ending one ends both.
  [[nodiscard]] virtual bool
  monitors(const caf::actor_addr& who) const noexcept = 0;

  // -- other actors -----------------------------------------------------------

  /// Returns the messages of other actors for the body.
  [[nodiscard]] letter_boxes& letters();

  // -- the client -------------------------------------------------------------

  /// Sends the gathered chunks to the client, or the input credit that is due.
  virtual void flush() = 0;

  /// Ends the turn: sends its gathered chunks, then the end of the turn.
  /// @param snapshot of the end of the turn; may be empty.
  /// @pre a credit was reserved for it.
  virtual void end_turn(snapshot_id snapshot) = 0;

  // -- conversations ----------------------------------------------------------

  /// Returns the session in which the body runs, its own or that of its caller;
  /// without actors if there is no session.
  [[nodiscard]] const session_link& link() const noexcept {
    static const session_link none;
    return link_ ? *link_ : none;
  }

  /// Returns the init of the client in the action's own type, with the snapshot
  /// that the client chose; empty if it gave none. Only for conversations.
  [[nodiscard]] const payload& client_init() const noexcept {
    return init_;
  }

  /// Returns the index of the turn under way in its session. Only for
  /// conversations.
  [[nodiscard]] std::uint64_t turn_index() const noexcept {
    return first_turn_ + out.turn();
  }

  /// Returns the name of the call, if the action is a tool of a session.
  [[nodiscard]] const std::string& call_id() const noexcept {
    return origin().call;
  }

  /// Returns the caller for whom the body runs; empty for the program itself.
  [[nodiscard]] const caller_name& caller() const noexcept {
    return origin().caller;
  }

  /// Requests the snapshot for which `x` waits.
  virtual void request_snapshot(snapshot_wait& x) = 0;

  /// Drops a wait for a snapshot that has ended before its outcome came.
  virtual void withdraw(snapshot_wait& x) = 0;

  // -- connections whose client is the body -----------------------------------

  /// Returns whether the body reads a run already: it can do so once.
  /// @param key key of the action; with `of`, if `what` names no run.
  /// @param of  session of the run.
  [[nodiscard]] virtual bool reads(const attachment& what,
                                   const std::string& key,
                                   const session_id& of) const noexcept = 0;

  virtual void attach(nested_connection& x) = 0;
  virtual void detach(nested_connection& x) noexcept = 0;

protected:
  /// Call or caller for which a body runs.
  struct call_origin {
    std::string call; ///< of a tool; may be empty
    caller_name caller;
  };

  void set_link(session_link x) {
    if (x != session_link{})
      link_ = std::make_unique<const session_link>(std::move(x));
  }

  void set_origin(call_origin x) {
    if (!x.call.empty() || x.caller)
      origin_ = std::make_unique<const call_origin>(std::move(x));
  }

  using time_point = time_limits::time_point;

  explicit host(host_actor::pointer self);

  virtual ~host();

  /// Handles the tick for the earliest time-out of a wait.
  void expire_waits();

  /// Aborts the waits for a reply of an actor that was lost. One of this node
  /// that has finished may have delegated its requests before: only those that
  /// CAF has answered for it are aborted.
  /// @param exit_reason none if it has finished.
  void abort_waits_for(const caf::actor_addr& other, const caf::error& reason,
                       const caf::error& exit_reason);

  /// Ends the letter boxes: the body has ended.
  void close_letters() noexcept;

  /// Ends all ticks and the monitors of all waits: the actor ends.
  void forget_waits();

  ready_queue scheduled_;

public:
  inbox in;
  outbox out;
  scope root;
  span trace;

  time_limits limits;

  /// Reason for which the turn under way will end; empty if none was noted.
  std::optional<ai::finish_reason> finish_reason;
  /// Reason for which the last turn ended.
  std::optional<ai::finish_reason> last_finish_reason;
  /// Whether the last turn that ended has a snapshot, and no nested flow has
  /// requested one since. The session still has to compare versions.
  bool has_turn_snapshot = false;
  /// As `open_options::output_messages`.
  std::uint64_t output_messages = 0;

protected:
  host_actor::pointer self_;
  payload init_;
  std::uint64_t first_turn_ = 0; // index in the session

private:
  [[nodiscard]] const call_origin& origin() const noexcept {
    static const call_origin none;
    return origin_ ? *origin_ : none;
  }

  std::unique_ptr<const session_link> link_;  // null without a session
  std::unique_ptr<const call_origin> origin_; // null for most bodies
  struct wait_entry {
    std::uint64_t id;
    wait* waiter;
    time_point due;
    bool vital = false;
  };

  /// Request whose wait ends when the asked actor dies.
  struct watched_request {
    caf::actor_addr who;
    std::uint64_t id;
    bool is_unanswered = false; ///< CAF has answered in its place.
  };

  struct wait_lists {
    std::vector<wait_entry> entries;
    std::vector<watched_request> watched;
  };

  /// Returns the lists, which the first call makes.
  [[nodiscard]] wait_lists& waits();

  std::unique_ptr<letter_boxes> letters_; // null until the body wants some
  std::uint64_t last_id_ = time_limits::last_named_tick;
  std::unique_ptr<wait_lists> waits_; // null before the first one
};

} // namespace tertulia::detail
