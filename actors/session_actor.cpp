// SPDX-License-Identifier: BSD-3-Clause

#include "session_actor.hpp"

#include <tertulia/uuid.hpp>

#include <caf/stateful_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <spdlog/logger.h>

namespace tertulia::detail {

namespace {

/// What the snapshot of a session flow is called in the last message of it.
constexpr auto snapshot_tag = "snapshotId";

class session_state {
public:
  static inline const char* name = "tertulia.session";

  explicit session_state(session_actor::pointer self) : self_(self) {}

  session_actor::behavior_type
  run(std::shared_ptr<environment> env,
      std::shared_ptr<const conversation_action> what, session_opening opening,
      lease_holder owner) {
    env_ = std::move(env);
    what_ = std::move(what);
    opening_ = std::make_unique<session_opening>(std::move(opening));
    owner_ = std::move(owner);
    if (!owner_) {
      started_ = true;
      id_ = opening_->session;
      set_out();
      opening_.reset();
    }
    return {
      [this](caf::open_atom) { return start(); },
      [this](caf::get_atom) -> caf::result<session_view> {
        if (auto reason = objection_to_leaving())
          return reason;
        return view();
      },
      [this](session_edit& x) { return edit(x); },
      [this](snapshot_trigger x) { return trigger(x.event); },
      [this](list_atom) -> caf::result<session_summary> {
        if (auto reason = objection_to_leaving())
          return reason;
        return summary();
      },
      [this](done_atom) {
        self_->quit();
        return summary();
      },
    };
  }

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

  [[nodiscard]] session_view view() const {
    session_view result{id_, content_, version_};
    result.turn = turn_;
    result.last_snapshot = last_.id;
    return result;
  }

  [[nodiscard]] session_summary summary() const {
    session_summary result;
    result.last = view();
    result.snapshots = made_;
    return result;
  }

  /// Why what the session has cannot go to whoever asks: another process needs
  /// it as JSON, and would hear nothing if that fails on the way.
  [[nodiscard]] caf::error objection_to_leaving() const {
    const auto& who = self_->current_sender();
    if (!who || who->node() == self_->node())
      return caf::none;
    try {
      static_cast<void>(content_.id());
      return caf::none;
    } catch (...) {
      return current_exception_to_error();
    }
  }

  // -- opening ----------------------------------------------------------------

  caf::result<session_view> start() {
    if (std::exchange(started_, true))
      return fail(errc::failed_precondition, "the session is open already");
    auto promise = self_->make_response_promise<session_view>();
    if (opening_->snapshot)
      find_snapshot(promise);
    else if (opening_->session)
      claim(promise, [this](view_promise& x) { find_session(x); });
    else
      claim_new(promise);
    return promise;
  }

  /// A snapshot says whose session goes on.
  void find_snapshot(view_promise promise) {
    if (!policy().store) {
      promise.deliver(fail(errc::failed_precondition,
                           what_->info.key + " has no store to restore from"));
      return;
    }
    snapshot_ref which{what_->info.key, opening_->session, opening_->snapshot};
    auto go_on = [this, which](view_promise& to, stored_snapshot& x) mutable {
      try {
        // Before a live invocation ends for nothing.
        policy().schema.check(x.record.type);
      } catch (...) {
        to.deliver(current_exception_to_error());
        return;
      }
      id_ = x.record.session;
      which.session = id_;
      auto go_on = [this, which = std::move(which), type = x.record.type](
                     view_promise& y) { load(y, which, type); };
      // A branch disturbs nobody, so it needs no lease.
      if (policy().restore == restore_rule::move_head)
        claim(to, std::move(go_on));
      else
        go_on(to);
    };
    self_
      ->request(policy().store, caf::infinite,
                get_snapshot{which, detail_level::record})
      .then([promise, go_on](stored_snapshot& x) mutable { go_on(promise, x); },
            [this, promise](caf::error& reason) mutable {
              if (opening_->session && code_of(reason) == errc::not_found)
                explain_missing(promise, reason);
              else
                promise.deliver(std::move(reason));
            });
  }

  /// Tells a snapshot of another session from one that is unknown.
  void explain_missing(view_promise promise, const caf::error& reason) {
    auto mismatch
      = fail(errc::invalid_argument, "snapshot " + opening_->snapshot.str()
                                       + " is not one of session "
                                       + opening_->session.str());
    get_snapshot anywhere{snapshot_ref{what_->info.key, session_id{},
                                       opening_->snapshot},
                          detail_level::record};
    self_->request(policy().store, caf::infinite, std::move(anywhere))
      .then([=](const stored_snapshot&) mutable { promise.deliver(mismatch); },
            [=](const caf::error& other) mutable {
              const auto in_several
                = code_of(other) == errc::failed_precondition;
              promise.deliver(in_several ? mismatch : reason);
            });
  }

  void load(view_promise promise, snapshot_ref which, const stored_type& type) {
    auto go_on = [this](view_promise& to, stored_snapshot& x) {
      resume(to, std::move(x), {});
    };
    if (policy().restore == restore_rule::branch) {
      ask(promise, get_snapshot{std::move(which)}, go_on);
    } else if (type == policy().schema.known()) {
      ask(promise, restore_snapshot{std::move(which)}, go_on);
    } else {
      // A migration that fails must not leave the head where it has moved.
      ask(promise, get_snapshot{which},
          [this, which, go_on](view_promise& to, stored_snapshot& x) {
            try {
              static_cast<void>(typed(std::move(x.content)));
            } catch (...) {
              to.deliver(current_exception_to_error());
              return;
            }
            ask(to, restore_snapshot{which}, go_on);
          });
    }
  }

  /// Who finds the new session in the store must not open it beside us.
  void claim_new(view_promise promise) {
    id_ = session_id{make_uuid()};
    claim(promise, [this](view_promise& x) {
      set_out();
      opened(x);
    });
  }

  void find_session(view_promise promise) {
    if (!policy().store) {
      set_out();
      opened(promise);
      return;
    }
    self_->request(policy().store, caf::infinite, get_session{ref()})
      .then(
        [this, promise](stored_session& x) mutable {
          turn_ = x.info.next_turn;
          resume(promise, std::move(x.head), std::move(x.content));
        },
        [this, promise](caf::error& reason) mutable {
          if (code_of(reason) != errc::not_found) {
            promise.deliver(std::move(reason));
            return;
          }
          set_out();
          opened(promise);
        });
  }

  void opened(view_promise& promise) {
    opening_.reset();
    promise.deliver(view());
  }

  /// Begins where nothing was before.
  void set_out() {
    content_ = opening_->initial ? std::move(*opening_->initial)
                                 : what_->first_state();
  }

  /// Goes on from what the store has.
  /// @param working what the session worked on, if that is not the snapshot.
  void resume(view_promise promise, stored_snapshot from,
              std::optional<state> working) {
    try {
      if (from) {
        verify(from);
        if (!working)
          turn_ = next_turn_after(from.record);
        last_ = standing{std::move(from.record)};
        const auto is_same = !working || working->same_as(from.content);
        previous_ = typed(std::move(from.content));
        content_ = is_same ? *previous_ : typed(std::move(*working));
      } else {
        content_ = working ? typed(std::move(*working)) : what_->first_state();
      }
    } catch (...) {
      promise.deliver(current_exception_to_error());
      return;
    }
    opened(promise);
  }

  /// Whatever a store is worth: what it gives is what was saved, or an error.
  static void verify(const stored_snapshot& x) {
    if (const auto id = x.content.id(); id != x.record.state)
      throw status_error{errc::data_loss,
                         "snapshot " + x.record.id.str()
                           + " is corrupt: its state has the hash " + id.str(),
                         to_json_text(x.record)};
  }

  /// Returns a state that came from a store as one of the own type.
  [[nodiscard]] state typed(state x) const {
    x = policy().schema.adopt(std::move(x));
    return x.custom() ? x.with_custom(what_->check_custom(x.custom()))
                      : x.with_custom(what_->first_state().custom());
  }

  template <class Next>
  void claim(view_promise promise, Next next) {
    if (!id_)
      id_ = opening_->session;
    self_
      ->request(env_->leases, caf::infinite, claim_atom_v, ref(), owner_,
                opening_->live)
      .then([promise, next]() mutable { next(promise); },
            [promise](caf::error& reason) mutable {
              promise.deliver(std::move(reason));
            });
  }

  template <class Question, class Next>
  void ask(view_promise promise, Question question, Next next) {
    self_->request(policy().store, caf::infinite, std::move(question))
      .then([promise, next](stored_snapshot& x) mutable { next(promise, x); },
            [promise](caf::error& reason) mutable {
              promise.deliver(std::move(reason));
            });
  }

  // -- changes ----------------------------------------------------------------

  caf::result<std::uint64_t> edit(session_edit& x) {
    if (!policy().saves_changes || !policy().store)
      return apply(x);
    auto promise = self_->make_response_promise<std::uint64_t>();
    in_turn(
      [this, promise, x = std::move(x)]() mutable { save_change(promise, x); });
    return promise;
  }

  caf::result<std::uint64_t> apply(session_edit& x) {
    try {
      content_ = changed(x);
      return ++version_;
    } catch (...) {
      return current_exception_to_error();
    }
  }

  void save_change(version_promise promise, session_edit& x) {
    state next;
    try {
      next = changed(x);
      static_cast<void>(next.id()); // what has no JSON cannot be kept
    } catch (...) {
      promise.deliver(current_exception_to_error());
      return;
    }
    busy_ = true;
    self_
      ->request(policy().store, caf::infinite, save_session{ref(), next, turn_})
      .then(
        [this, promise, next](const session_info&) mutable {
          content_ = std::move(next);
          promise.deliver(++version_);
          go_on();
        },
        [this, promise](caf::error& reason) mutable {
          promise.deliver(std::move(reason));
          go_on();
        });
  }

  /// Returns the state after a change.
  /// @errors throws `aborted` if somebody else was faster, `invalid_argument`
  ///         for what does not fit or has no JSON.
  [[nodiscard]] state changed(session_edit& x) const {
    if (x.only_if != 0 && x.only_if != version_)
      throw status_error{errc::aborted, "the session has changed meanwhile"};
    auto take = [&]<class T>(std::type_identity<T>) {
      return std::move(x.value).template take<T>();
    };
    if (content_.form() == state_form::plain
        && x.what != session_verb::set_custom)
      throw status_error{errc::invalid_argument,
                         "the session has no messages and no artifacts"};
    switch (x.what) {
      case session_verb::add_messages:
        return content_.with_messages(content_.messages().with(
          take(std::type_identity<std::vector<ai::message>>{})));
      case session_verb::set_messages:
        return content_.with_messages(
          take(std::type_identity<ai::message_log>{}));
      case session_verb::set_custom:
        return content_.with_custom(what_->check_custom(std::move(x.value)));
      case session_verb::add_artifact:
        return content_.with_artifact(take(std::type_identity<ai::artifact>{}));
      case session_verb::set_artifacts:
        return content_.with_artifacts(
          std::make_shared<const std::vector<ai::artifact>>(
            take(std::type_identity<std::vector<ai::artifact>>{})));
    }
    throw status_error{errc::invalid_argument, "a change of an unknown kind"};
  }

  // -- snapshots --------------------------------------------------------------

  caf::result<snapshot_outcome> trigger(snapshot_event event) {
    auto promise = self_->make_response_promise<snapshot_outcome>();
    in_turn([this, promise, event] { make_snapshot(promise, event); });
    return promise;
  }

  /// @param found whether the last snapshot is one that nobody has heard of;
  ///              says as well that this one is wanted.
  void make_snapshot(outcome_promise promise, snapshot_event event,
                     std::optional<bool> found = std::nullopt) {
    const auto done = [&](snapshot_outcome outcome) {
      if (event == snapshot_event::turn_end && policy().store
          && policy().saves_changes)
        return save_turn(promise, std::move(outcome));
      end_of(event);
      promise.deliver(std::move(outcome));
    };
    try {
      if (!policy().makes_snapshots())
        return done({});
      if (!found && !is_wanted(event)) {
        // The end is told what there is, wanted or not.
        const auto is_kept = event == snapshot_event::invocation_end
                             && saved_version_ == version_;
        return done({is_kept ? last_.id : snapshot_id{}, false});
      }
      if (saved_version_ == version_) // no change since the last one
        return done({last_.id, found.value_or(false)});
      if (doubtful_)
        return settle_doubt(promise, event);
      auto content = content_;
      snapshot_record record;
      if (policy().ids == id_scheme::unique) {
        if (previous_ && content == *previous_ && content.type() == last_.type)
          return done({last_.id, false});
        record.id = snapshot_id{make_uuid()};
        if (!content.messages().empty())
          content
            = content.with_messages(tagged(content.messages(), record.id));
        record.state = content.id();
      } else {
        record.state = content.id();
        if (record.state == last_.state && content.type() == last_.type)
          return done({last_.id, found.value_or(false)});
        record.id = snapshot_id{record.state.str()};
      }
      record.type = content.type();
      record.agent = what_->info.key;
      record.session = id_;
      record.parent = last_.sequence;
      record.turn_index = turn_;
      record.event = event;
      record.created_at = caf::make_timestamp();
      save(promise, event, std::move(record), std::move(content));
    } catch (...) {
      promise.deliver(current_exception_to_error());
    }
  }

  [[nodiscard]] bool is_wanted(snapshot_event event) const {
    return policy().wanted(
      snapshot_moment{event, content_, previous_ ? &*previous_ : nullptr,
                      last_.sequence > 0 ? last_.index + 1 : 0, turn_});
  }

  /// Says in the last message which snapshot has it.
  static ai::message_log tagged(const ai::message_log& log,
                                const snapshot_id& id) {
    auto last = log.back();
    last.metadata[snapshot_tag] = id.str();
    return log.with_back(std::move(last));
  }

  void save(outcome_promise promise, snapshot_event event,
            snapshot_record record, state content) {
    busy_ = true;
    // What is added while the store works is not in this snapshot.
    const auto version = version_;
    const auto before = content_.messages();
    const auto at_head = policy().restore == restore_rule::move_head;
    const auto rule = at_head ? append_rule::at_head : append_rule::anywhere;
    auto id = record.id;
    self_
      ->request(policy().store, caf::infinite,
                save_snapshot{std::move(record), content, rule})
      .then(
        [=, this](saved_snapshot& x) mutable {
          keep_tag(before, content.messages());
          stand_on(std::move(x.record), std::move(content), version, x.created);
          end_of(event);
          promise.deliver(snapshot_outcome{last_.id, x.created});
          go_on();
        },
        [=, this](caf::error& reason) mutable {
          if (at_head && code_of(reason) != errc::aborted)
            doubtful_ = std::make_unique<attempt>(std::move(id),
                                                  std::move(content), version);
          not_saved(promise, event, std::move(reason));
        });
  }

  /// The next snapshot goes on from this one.
  void stand_on(snapshot_record&& record, state&& content,
                std::uint64_t version, bool created) {
    doubtful_.reset();
    last_ = standing{std::move(record)};
    previous_ = std::move(content);
    saved_version_ = version;
    if (created)
      made_.push_back(last_.id);
  }

  /// Looks whether the last save has happened, and then makes the snapshot.
  void settle_doubt(outcome_promise promise, snapshot_event event) {
    busy_ = true;
    self_
      ->request(policy().store, caf::infinite,
                get_session{ref(), detail_level::record})
      .then(
        [=, this](stored_session& x) mutable {
          go_on_from(promise, event, std::move(x.head.record));
        },
        [=, this](caf::error& reason) mutable {
          if (code_of(reason) == errc::not_found)
            go_on_from(promise, event, {});
          else
            not_saved(promise, event, std::move(reason));
        });
  }

  void go_on_from(outcome_promise promise, snapshot_event event,
                  snapshot_record head) {
    const auto attempted = std::move(doubtful_);
    const auto found = head.id == attempted->id && head.parent == last_.sequence
                       && head.type == attempted->content.type();
    if (found)
      stand_on(std::move(head), std::move(attempted->content),
               attempted->version, true);
    busy_ = false;
    make_snapshot(promise, event, found);
    if (!busy_)
      go_on();
  }

  /// Lets the store know of the end of a turn of which it got no snapshot: the
  /// session goes on with the next turn, whoever opens it.
  void save_turn(outcome_promise promise, snapshot_outcome outcome) {
    busy_ = true;
    self_
      ->request(policy().store, caf::infinite,
                save_session{ref(), content_, turn_ + 1})
      .then(
        [=, this](const session_info&) mutable {
          end_of(snapshot_event::turn_end);
          promise.deliver(std::move(outcome));
          go_on();
        },
        [=, this](caf::error& reason) mutable {
          not_saved(promise, snapshot_event::turn_end, std::move(reason));
        });
  }

  void not_saved(outcome_promise promise, snapshot_event event,
                 caf::error reason) {
    if (policy().on_failure == save_failure::is_reported) {
      env_->log->warn("{} saved no snapshot: {}", what_->info.key,
                      to_string(code_of(reason)));
      end_of(event);
      snapshot_outcome outcome;
      outcome.failure = code_of(reason);
      promise.deliver(std::move(outcome));
    } else {
      promise.deliver(std::move(reason));
    }
    go_on();
  }

  /// Gives the working state the messages as they were stored, and what was
  /// added meanwhile behind them.
  void keep_tag(const ai::message_log& before, const ai::message_log& stored) {
    if (before.same_as(stored))
      return;
    const auto& now = content_.messages();
    if (now.shared_with(before) < before.size())
      return; // they were replaced
    std::vector<ai::message> added;
    for (const auto& x : now.from(before.size()))
      added.push_back(x);
    content_ = content_.with_messages(stored.with(std::move(added)));
  }

  void end_of(snapshot_event event) noexcept {
    if (event == snapshot_event::turn_end)
      ++turn_;
  }

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

  void go_on() {
    busy_ = false;
    while (!busy_ && !waiting_.empty()) {
      auto next = std::move(waiting_.front());
      waiting_.erase(waiting_.begin());
      next();
    }
  }

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

  standing last_; // where the next snapshot goes on
  std::optional<state> previous_;
  std::uint64_t saved_version_ = 0;
  std::vector<snapshot_id> made_; // in this invocation
  std::unique_ptr<attempt> doubtful_;

  bool busy_ = false;
  std::vector<std::function<void()>> waiting_;
};

} // namespace

session_actor spawn_session(caf::local_actor& parent,
                            std::shared_ptr<environment> env,
                            std::shared_ptr<const conversation_action> what,
                            session_opening opening, lease_holder owner) {
  // It runs when there is something to do, and not once more before.
  return parent.spawn<caf::hidden + caf::lazy_init>(
    [](session_actor::stateful_pointer<session_state> self,
       std::shared_ptr<environment> env,
       std::shared_ptr<const conversation_action> what, session_opening opening,
       lease_holder owner) {
      return self->state.run(std::move(env), std::move(what),
                             std::move(opening), std::move(owner));
    },
    std::move(env), std::move(what), std::move(opening), std::move(owner));
}

} // namespace tertulia::detail
