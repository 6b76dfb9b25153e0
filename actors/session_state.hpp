// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/typed_response_promise.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "session_actor.hpp"

namespace tertulia::detail {

/// The state of a session actor: what one conversation has come to, what of it
/// its store has, and what is asked of the store at the moment.
///
/// A question to the store is a request with a promise that waits for it. What
/// changes something there goes one after the other; meanwhile the body may
/// change the state, but not what is on its way.
///
/// @threads only on its actor.
class session_state {
public:
  static inline const char* name = "tertulia.session";

  explicit session_state(session_actor::pointer self) : self_(self) {}

  session_actor::behavior_type
  run(std::shared_ptr<environment> env,
      std::shared_ptr<const conversation_action> what, session_opening opening,
      lease_holder owner);

private:
  /// A record, as far as what follows it needs to know.
  struct standing {
    standing() = default;
    explicit standing(snapshot_record&& x)
      : sequence(x.sequence), index(x.index), id(std::move(x.id)),
        state(std::move(x.state)), type(std::move(x.type)) {}

    std::uint64_t sequence = 0; // none
    std::uint64_t index = 0;
    snapshot_id id;
    state_id state;
    stored_type type; // as it is stored, whatever it was made into
  };

  /// A save that got no answer, or an error: it may have happened all the same.
  struct attempt {
    attempt(snapshot_id id, state content, std::uint64_t version)
      : id(std::move(id)), content(std::move(content)), version(version) {}

    snapshot_id id;
    state content;
    std::uint64_t version;
  };

  using view_promise = caf::typed_response_promise<session_view>;
  using version_promise = caf::typed_response_promise<std::uint64_t>;
  using outcome_promise = caf::typed_response_promise<snapshot_outcome>;

  [[nodiscard]] const session_policy& policy() const noexcept {
    return what_->policy;
  }

  [[nodiscard]] session_ref ref() const {
    return {what_->info.key, id_};
  }

  [[nodiscard]] session_view view() const;
  [[nodiscard]] session_summary summary() const;

  /// Why what the session has cannot go to whoever asks: another process needs
  /// it as JSON, and would hear nothing if that fails on the way.
  [[nodiscard]] caf::error objection_to_leaving() const;

  // -- opening ----------------------------------------------------------------

  caf::result<session_view> start();

  /// A snapshot says whose session goes on.
  void find_snapshot(view_promise promise);

  /// Tells a snapshot of another session from one that is unknown.
  void explain_missing(view_promise promise, const caf::error& reason);

  void load(view_promise promise, snapshot_ref which, const stored_type& type);

  /// Who finds the new session in the store must not open it beside us.
  void claim_new(view_promise promise);

  void find_session(view_promise promise);
  void opened(view_promise& promise);

  /// Begins where nothing was before.
  void begin_anew(view_promise& promise);
  void set_out();

  /// Goes on from what the store has.
  /// @param working what the session worked on, if that is not the snapshot.
  void resume(view_promise promise, stored_snapshot from,
              std::optional<state> working);

  /// Whatever a store is worth: what it gives is what was saved, or an error.
  static void verify(const stored_snapshot& x);

  /// Returns a state that came from a store as one of the own type.
  [[nodiscard]] state typed(state x) const;

  template <class Next>
  void claim(view_promise promise, Next next);
  template <class Question, class Next>
  void ask(view_promise promise, Question question, Next next);

  // -- changes ----------------------------------------------------------------

  caf::result<std::uint64_t> edit(session_edit& x);
  caf::result<std::uint64_t> apply(session_edit& x);
  void save_change(version_promise promise, session_edit& x);

  /// Returns the state after a change.
  /// @errors throws `aborted` if somebody else was faster, `invalid_argument`
  ///         for what does not fit or has no JSON.
  [[nodiscard]] state changed(session_edit& x) const;

  // -- snapshots --------------------------------------------------------------

  caf::result<snapshot_outcome> trigger(snapshot_event event);

  /// @param found whether the last snapshot is one that nobody has heard of;
  ///              says as well that this one is wanted.
  void make_snapshot(outcome_promise promise, snapshot_event event,
                     std::optional<bool> found = std::nullopt);

  [[nodiscard]] bool is_wanted(snapshot_event event) const;

  /// Says in the last message which snapshot has it.
  static ai::message_log tagged(const ai::message_log& log,
                                const snapshot_id& id);

  void save(outcome_promise promise, snapshot_event event,
            snapshot_record record, state content);

  /// The next snapshot goes on from this one.
  void stand_on(snapshot_record&& record, state&& content,
                std::uint64_t version, bool created);

  /// Looks whether the last save has happened, and then makes the snapshot.
  void settle_doubt(outcome_promise promise, snapshot_event event);

  void go_on_from(outcome_promise promise, snapshot_event event,
                  snapshot_record head);

  /// Lets the store know of the end of a turn of which it got no snapshot: the
  /// session goes on with the next turn, whoever opens it.
  void save_turn(outcome_promise promise, snapshot_outcome outcome);

  void not_saved(outcome_promise promise, snapshot_event event,
                 caf::error reason);

  /// The store has told where it has the session.
  void stand_at(session_position x);

  /// The store has not told whether a save has happened.
  void doubt(session_position x, const caf::error& reason);

  /// Gives the working state the messages as they were stored, and what was
  /// added meanwhile behind them.
  void keep_tag(const ai::message_log& before, const ai::message_log& stored);

  void end_of(snapshot_event event);

  // -- one after the other ----------------------------------------------------

  /// Runs what has to do with the store, one after the other. Few wait: parts
  /// of one body, and each for its own answer.
  template <class Work>
  void in_turn(Work work) {
    if (busy_)
      waiting_.emplace_back(std::move(work));
    else
      work();
  }

  void go_on();

  session_actor::pointer self_;
  std::shared_ptr<environment> env_;
  std::shared_ptr<const conversation_action> what_;
  std::unique_ptr<session_opening> opening_; // until it is open
  lease_holder owner_;
  bool started_ = false;

  session_id id_;
  state content_;
  std::uint64_t version_ = 1;
  std::uint64_t turn_ = 0;
  state good_; // without a store: after the last turn that has ended

  standing last_; // where the next snapshot goes on
  std::optional<state> previous_;
  std::uint64_t saved_version_ = 0;
  std::vector<snapshot_id> made_; // in this invocation
  std::unique_ptr<attempt> doubtful_;

  // Where the store may have the session: first the position that it has told,
  // then those of later saves that got no answer. Empty where no change is
  // saved by itself.
  std::vector<session_position> positions_;

  bool busy_ = false;
  std::vector<std::function<void()>> waiting_;
};

} // namespace tertulia::detail
