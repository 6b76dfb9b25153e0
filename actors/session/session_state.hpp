// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/activity_counters.hpp>
#include <tertulia/detail/session_actor.hpp>
#include <tertulia/store.hpp>

#include <caf/typed_response_promise.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tertulia::detail {

/// State of a session actor: the state of one conversation, its last snapshot,
/// its position in the store, and the operations on the store that are pending.
///
/// Each request to the store carries a response promise that waits for its
/// answer. Operations that change the store run one after the other. Meanwhile
/// the body may change the state, but not the copy that is being saved.
///
/// @threads only on its actor.
class session_state {
public:
  static inline const char* name = "tertulia.session";

  explicit session_state(session_actor::pointer self) : self_(self) {}

  session_state(const session_state&) = delete;
  session_state& operator=(const session_state&) = delete;

  /// Removes the monitor of a store on another node, which outlives many
  /// sessions and would keep one for each.
  ~session_state();

  session_actor::behavior_type
  make_behavior(std::shared_ptr<environment> env,
                std::shared_ptr<const conversation_action> conversation,
                session_start start_request, lease_holder owner);

private:
  /// The fields of a record that its successor needs.
  struct parent_record {
    parent_record() = default;
    explicit parent_record(snapshot_record&& x)
      : sequence(x.sequence), index(x.index), id(std::move(x.id)),
        state(std::move(x.state)), type(std::move(x.type)) {}

    std::uint64_t sequence = 0; // 0: no record
    std::uint64_t index = 0;
    snapshot_id id;
    state_id state;
    stored_type type; // as it is stored, before any migration
  };

  /// A save that failed or got no answer. It may have taken effect
  /// nevertheless.
  struct save_attempt {
    save_attempt(snapshot_id id, state content, std::uint64_t version)
      : id(std::move(id)), content(std::move(content)), version(version) {}

    snapshot_id id;
    state content;
    std::uint64_t version;
  };

  /// Inputs that a state contains.
  struct input_mark {
    input_mark() = default;
    input_mark(std::uint64_t inputs, const turn_id& name)
      : inputs(inputs),
        turn(name.empty() ? nullptr : std::make_shared<const turn_id>(name)) {}

    std::uint64_t inputs = 0;            // of the conversation
    std::shared_ptr<const turn_id> turn; // name of the last turn; few have one
  };

  using view_promise = caf::typed_response_promise<session_view>;
  using outcome_promise = caf::typed_response_promise<snapshot_outcome>;

  [[nodiscard]] const session_policy& policy() const noexcept {
    return action_->policy;
  }

  [[nodiscard]] session_ref ref() const {
    return {action_->info()->key, id_};
  }

  /// Returns a change of the session in the store.
  [[nodiscard]] save_session_request save_of(const state& x, std::uint64_t turn,
                                             const input_mark& mark) const;

  [[nodiscard]] session_view view() const;
  [[nodiscard]] session_summary summary() const;

  /// Ends the session.
  /// @param only_if_saved if true, it ends only if its last snapshot has its
  ///                      state, and the result tells whether (`is_final`).
  caf::result<session_summary> finish(bool only_if_saved);

  /// Ends the run when its store on another node is lost.
  void watch_store();

  /// Checks that a state can be sent to the current sender. Another process
  /// needs it as JSON, and would get no answer if the encoding failed on the
  /// way.
  /// @errors throws `invalid_argument`.
  void check_encoding(const state& x) const;

  /// Returns `view` or `summary` for the current sender.
  template <class Result>
  caf::result<Result> encodable(Result x) const;

  // -- opening ----------------------------------------------------------------

  caf::result<session_view> start();

  /// Finds the session of the chosen snapshot and continues it.
  void find_snapshot(view_promise promise);

  /// Distinguishes a snapshot of another session from an unknown one, and
  /// answers with the matching error.
  void report_missing(view_promise promise, const caf::error& reason);

  void load(view_promise promise, snapshot_ref snapshot,
            const stored_type& type);

  /// Starts a session with a new id. It is leased as well, so that a client
  /// that finds it in the store cannot open it at the same time.
  void lease_new_session(view_promise promise);

  void find_session(view_promise promise);
  void finish_start(view_promise& promise);

  /// Starts a session that is not in the store.
  void start_new_session(view_promise& promise);
  void set_initial_state();

  /// Continues a session from the content of the store.
  /// @param working the state that the session worked on; empty to continue
  ///                from the snapshot.
  void resume(view_promise promise, stored_snapshot from,
              std::optional<state> working);

  /// Checks that a state from a store is the one that was saved, however
  /// reliable the store is.
  /// @errors throws `data_loss`.
  static void verify(const stored_snapshot& x);

  /// Returns a state from a store in the action's own type.
  [[nodiscard]] state convert_state(state x) const;

  template <class Next>
  void acquire_lease(view_promise promise, Next next);
  template <class Question, class Next>
  void request_snapshot(view_promise promise, Question question, Next next);

  // -- changes ----------------------------------------------------------------

  caf::result<session_view> edit(session_edit& x);
  caf::result<session_view> apply(session_edit& x);
  void save_change(view_promise promise, session_edit& x);

  /// Makes `next` the state.
  /// @returns the reply to the edit.
  session_view accept(state next, bool with_content);

  /// Returns the state after a change.
  /// @errors throws `aborted` if another change came first, `invalid_argument`
  ///         for a value that does not fit or has no JSON.
  [[nodiscard]] state changed_state(session_edit& x) const;

  // -- snapshots --------------------------------------------------------------

  caf::result<snapshot_outcome> trigger(snapshot_trigger what);

  /// Makes a snapshot if it is wanted and the state has changed.
  /// @param found set after a save in doubt was checked: whether it has
  ///              happened, so that its snapshot is not yet reported. If set,
  ///              the snapshot is known to be wanted.
  void make_snapshot(outcome_promise promise, snapshot_event event,
                     std::optional<bool> found = std::nullopt);

  [[nodiscard]] bool is_wanted(snapshot_event event) const;

  /// Returns the messages with the id of their snapshot in the last one.
  static ai::message_log with_snapshot_id(const ai::message_log& log,
                                          const snapshot_id& id);

  void save(outcome_promise promise, snapshot_event event,
            snapshot_record record, state content);

  /// Returns the outcome of a trigger.
  [[nodiscard]] snapshot_outcome outcome(snapshot_id id, bool created) const;

  /// Makes this snapshot the parent of the next one.
  void set_parent(snapshot_record&& record, state&& content,
                  std::uint64_t version, bool created);

  /// Checks whether the last save has happened, and then makes the snapshot.
  void check_unconfirmed_save(outcome_promise promise, snapshot_event event);

  void resolve_save(outcome_promise promise, snapshot_event event,
                    snapshot_record head);

  /// Saves the end of a turn that made no snapshot, so that the session
  /// continues with the next turn when it is opened again.
  void save_turn(outcome_promise promise, snapshot_outcome outcome);

  void handle_save_failure(outcome_promise promise, snapshot_event event,
                           caf::error reason);

  /// Ends the run if the store aborted a change: another run has the lease of
  /// the session, or another writer has changed it, so no later change of this
  /// run can be saved either.
  void end_if_aborted(const caf::error& reason);

  /// Sets the position that the store has confirmed.
  void set_position(session_position x);

  /// Adds the position of a save that the store has not confirmed.
  void add_position(session_position x, const caf::error& reason);

  /// Replaces the messages of the working state by the stored ones, followed by
  /// those that were added meanwhile.
  void merge_messages(const ai::message_log& before,
                      const ai::message_log& stored);

  /// Begins the next turn after the end of one.
  void handle_event_end(snapshot_event event);

  // -- one after the other ----------------------------------------------------

  /// Runs an operation on the store when the earlier ones have ended. Only
  /// parts of one body wait, each for its own answer, so the queue is short.
  template <class Work>
  void enqueue(Work work) {
    if (busy_)
      pending_operations_.emplace_back(std::move(work));
    else
      work();
  }

  /// Begins an operation on the store.
  void begin_operation() {
    busy_ = true;
    busy_since_ = duration_counter::clock::now();
  }

  /// Ends the operation under way and begins the next one.
  void run_next();

  session_actor::pointer self_;
  std::shared_ptr<environment> env_;
  std::shared_ptr<const conversation_action> action_;
  std::unique_ptr<session_start> start_; // until the session is open
  lease_holder owner_;
  custom_listener listener_; // null if nobody listens
  bool started_ = false;
  bool watches_store_ = false;

  session_id id_;
  std::uint64_t fence_ = 0; // of the session's lease; 0 for a branch
  state content_;
  std::uint64_t version_ = 1;
  std::uint64_t first_turn_ = 0;                   // of this connection
  std::uint64_t turn_ = 0;                         // under way
  std::optional<ai::finish_reason> finish_reason_; // of the last trigger
  input_mark mark_;                                // of the last trigger
  input_mark stored_mark_;                         // as the store has it
  std::vector<past_turn> past_turns_; // of before, until the session is open
  bool is_in_turn_ = false;           // opened in a turn that was cut off
  state last_turn_state_; // without a store: after the last turn that ended

  parent_record parent_; // the parent of the next snapshot
  std::optional<state> previous_state_;
  std::uint64_t saved_version_ = 0;
  std::vector<snapshot_id> new_snapshots_; // in this invocation
  std::unique_ptr<save_attempt> unconfirmed_save_;

  // Positions at which the store may have the session: first the confirmed one,
  // then those of later saves without an answer. Empty unless every change is
  // saved at once.
  std::vector<session_position> positions_;

  bool busy_ = false;
  duration_counter::clock::time_point busy_since_;
  std::vector<std::function<void()>> pending_operations_;
};

} // namespace tertulia::detail
