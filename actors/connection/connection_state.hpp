// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/conversation_action.hpp>
#include <tertulia/detail/environment.hpp>
#include <tertulia/detail/host.hpp>
#include <tertulia/task.hpp>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "client/custom_deltas.hpp"
#include "log/client_log.hpp"
#include "log/kept_run.hpp"
#include "snapshot_requests.hpp"

namespace tertulia::detail {

/// State of a connection actor: hosts the body and moves its inputs and chunks.
///
/// A handler only records an event and wakes the waiting coroutines. `drain`
/// then resumes them one after the other, sends the gathered chunks and, if the
/// body has ended, the completion message. So no part of a body runs inside
/// another part, and no frame is destroyed while it runs.
///
/// @threads only on its actor.
/// @design  docs/engine.md#connection.
class connection_state : public host,
                         public kept_run::listener,
                         private task_listener {
public:
  static inline const char* name = "tertulia.connection";

  explicit connection_state(host_actor::pointer self) : host(self) {}

  /// Sends the completion message if it was not sent: the actor was killed.
  ~connection_state();

  host_actor::behavior_type make_behavior(std::shared_ptr<environment> env,
                                          std::shared_ptr<const action> action);

  // -- host -------------------------------------------------------------------

  [[nodiscard]] body_services& services() const noexcept override {
    return *env_;
  }

  [[nodiscard]] const std::shared_ptr<const action>&
  hosted_action() const noexcept override {
    return action_;
  }

  void drain() override;
  void flush() override;
  void end_turn(snapshot_id snapshot) override;
  void request_snapshot(snapshot_wait& x) override;
  void withdraw(snapshot_wait& x) override;
  [[nodiscard]] bool
  monitors(const caf::actor_addr& who) const noexcept override;
  [[nodiscard]] bool reads(const attachment& what, const std::string& key,
                           const session_id& of) const noexcept override;
  void attach(nested_connection& x) override;
  void detach(nested_connection& x) noexcept override;

  // -- conversations ----------------------------------------------------------

  /// Returns the hosted action.
  /// @pre it is a conversation.
  [[nodiscard]] const conversation_action& conversation() const noexcept {
    return *action_->conversation();
  }

  /// Returns whether the session can still be asked for a snapshot.
  [[nodiscard]] bool can_make_snapshots() const noexcept {
    return session_ && phase_ == phase::active && !root.cancelled();
  }

  /// Returns the trigger of a snapshot in the turn under way.
  [[nodiscard]] snapshot_trigger trigger_of(snapshot_event event) const;

  /// Records what the store contains of the conversation.
  void note_stored(const snapshot_outcome& x);

  /// Cancels the body, or refuses the opening.
  void abort(const caf::error& reason);

  /// Returns the responder, which is spawned by the first event.
  const responder_actor& responder();

  // -- the log ----------------------------------------------------------------

  /// Returns the error that a client of another node may see: an id instead of
  /// the text of an unexpected exception, which may hold anything; the log of
  /// the runtime has both.
  [[nodiscard]] caf::error error_for_remote(caf::error reason);

  /// Returns the error for a reader whose position the log has lost.
  [[nodiscard]] caf::error lost_position(std::uint64_t position) const;

  /// Returns the number of inputs that the body took, counted from the
  /// beginning of the conversation.
  [[nodiscard]] std::uint64_t inputs_taken() const noexcept {
    return first_inputs_ + in.taken_count();
  }

  /// Sends the end to a reader of another node, whose answer confirms it.
  void deliver_end(std::uint32_t reader, const chunk_sink& sink, completion x);

  /// Ends the actor if nothing is left to do.
  void quit_if_done();

  /// Adds a chunk of the conversation itself: a notice or a change.
  /// @param x a batch of one.
  /// @pre a credit was reserved for it.
  void add_chunk(payload x);

private:
  /// Longest time that a client of another node may take for the messages up to
  /// the completion message. A stopping runtime waits for each of its
  /// connections, and a client that does not respond must not delay it.
  static constexpr caf::timespan max_confirmation_wait
    = std::chrono::minutes{1};
  static constexpr caf::timespan max_confirmation_wait_on_stop
    = std::chrono::seconds{2};

  [[nodiscard]] caf::timespan confirmation_wait() const noexcept {
    return is_stopping_ ? max_confirmation_wait_on_stop : max_confirmation_wait;
  }

  /// Longest time that a store on another node may take to confirm the release
  /// of a lease. The client waits for its end meanwhile, and the store may be
  /// lost.
  static constexpr caf::timespan max_release_wait = std::chrono::seconds{2};

  /// Notes the end of the body.
  void on_task_end() noexcept override {
    body_ended_ = true;
  }

  /// State that is needed until the body starts. As a wait it limits the time
  /// for opening a session, which may need its store.
  class start_state final : public wait {
  public:
    explicit start_state(connection_state& of) noexcept : owner_(of) {}

    void abort(const caf::error& reason) override {
      owner_.refuse(reason);
    }

    caf::typed_response_promise<open_result> answer;
    std::uint64_t id = 0; // number of the wait; 0 if it is not registered
    std::optional<std::uint64_t> resume_after;      // as in the options
    turn_id turn;                                   // as in the options
    std::optional<std::uint64_t> turn_begin;        // as in the options
    turn_progress found = turn_progress::not_begun; // of the named turn
    std::vector<payload> inputs;                    // of the request
    bool closes = false;                            // behind them

  private:
    connection_state& owner_;
  };

  /// Turn with a name, which begins with an input.
  struct named_turn {
    turn_id name;
    std::uint64_t input = 0; ///< number in this run
  };

  /// Names of turns. Few conversations have any.
  struct turn_names {
    std::vector<named_turn> here; ///< of this run, in order
    std::uint64_t last_begin = 0; ///< first input of the turn that ended last
    turn_id last;                 ///< of the session, before this run
    std::vector<turn_id> past;    ///< of the session, before that one
  };

  /// Returns the gathered chunks as they leave, and the input credit. Cancels
  /// the body and returns nothing if a chunk cannot be encoded.
  [[nodiscard]] std::optional<chunk_batch> take_batch();

  // -- handlers ---------------------------------------------------------------

  caf::result<open_result> start(open_request& x);
  /// @param within longest wait in a queue.
  void open_session(session_start start, caf::timespan within);
  void start_conversation(const session_id& id, snapshot_id snapshot = {});

  /// Names the turn that the next input begins.
  void name_turn(turn_id name);

  /// Returns the names of turns, for changes.
  [[nodiscard]] turn_names& named_turns();

  [[nodiscard]] turn_progress progress_of(const turn_id& name) const;

  /// Continues the inputs and the turns of a session. A turn that was cut off
  /// is finished if the client wants it.
  void continue_session(const session_view& x);
  /// @param snapshot from which a conversation continues; empty for none.
  void start_body(payload init, snapshot_id snapshot = {});
  void refuse(caf::error reason);
  void send_refusal();
  caf::result<void> take_input(turn_input& x);
  /// Returns the requests for snapshots, which the first one makes.
  /// @pre the hosted action is a conversation.
  [[nodiscard]] snapshot_requests& snapshots();

  caf::result<snapshot_outcome> make_nested_snapshot(iteration_end x);
  void on_down(const caf::down_msg& x);
  [[nodiscard]] nested_connection* nested() const noexcept;

  // -- the end ----------------------------------------------------------------

  void conclude();
  void set_outcome(payload output, caf::error reason);
  void set_output_state(const session_view& x);
  void end_session();
  void kill_session();

  /// Releases the lease of a session that has ended, and continues with the end
  /// of the connection.
  /// @param loss reason of the end if the session was not told to end.
  void release_lease(caf::error loss);

  /// Sends the end of a kept run to its store if it has one, and goes on with
  /// the end of the connection.
  void record_end();

  /// Sends the completion message once the store has the end of the run, or has
  /// had its time.
  void go_on_when_recorded();
  void send_completion();
  void quit_after_confirmation();

  /// Returns the error that the talker may see.
  [[nodiscard]] caf::error client_error(caf::error reason);

  // -- kept runs --------------------------------------------------------------

  void keep(const open_request& x);

  /// Lets clients find the run, and returns the position of the first one.
  void register_run(const snapshot_id& snapshot);

  /// Returns whether there is an input whose turn has not ended.
  [[nodiscard]] bool is_in_turn() const noexcept {
    return in.accepted_count() > ended_inputs_;
  }

  /// Returns the position of a client.
  /// @param reader number of the client among the readers of a kept run.
  /// @param next   number in the log of what follows.
  /// @param turns  number of turns of the run that have ended before.
  [[nodiscard]] attach_result position_of(std::uint32_t reader,
                                          std::uint64_t next,
                                          std::uint64_t turns) const;

  caf::result<open_result> attach_client(open_request& x);

  /// Returns whether a caller must not know the run.
  [[nodiscard]] bool is_foreign(const caller_name& x) const noexcept;

  /// Returns whether a request names the run, and another session than its own:
  /// who may ask was decided for that session.
  [[nodiscard]] bool is_elsewhere(const session_id& x) const noexcept;

  caf::result<run_info> handle(const run_request& x);
  [[nodiscard]] run_info info() const;

  /// Answers the requests that wait for the end of a turn, unless the run is in
  /// one.
  void answer_turn_waiters();

  /// Returns the status with which the run ends.
  [[nodiscard]] run_status final_status() const;
  void grant(std::uint32_t reader, std::uint32_t chunks);
  void leave(std::uint32_t reader);

  void on_reader_lost(const caf::actor_addr& who);

  /// Returns whether a client may speak for the run.
  [[nodiscard]] bool is_talker(std::uint32_t reader) const noexcept;

  /// Returns whether the body needs an input: its sender is the talker, and it
  /// was not accepted before.
  [[nodiscard]] bool is_new(const turn_input& x);

  /// Ends every wait for clients of a kept run: the runtime stops.
  void stop_waiting_for_clients();

  /// Lets the body go on without a talker.
  void run_alone();

  /// Gives the body credit if nobody talks.
  void give_credit_alone();
  void on_credit_tick();

  /// Begins to wait for a client, unless it does already.
  /// @param within zero for no limit.
  void wait_for_client(caf::timespan within);
  void on_expiry() override;
  void quit_kept_if_done();

  /// Ends the actor of a kept run, once it has what the front desk has passed
  /// on to it.
  void leave_desk();

  /// The phases of a connection, in order.
  enum class phase : std::uint8_t {
    active,     ///< Opening, or with a body that can still talk to the client.
    concluded,  ///< The outcome is known; the session ends.
    recording,  ///< The store is told how the kept run has ended.
    completed,  ///< The completion message was sent.
    confirming, ///< The client was asked whether it has received it.
  };

  std::shared_ptr<environment> env_;
  std::shared_ptr<const action> action_;
  client_log log_{*this};
  bool is_open_ = false; // has or had a client
  bool remote_ = false;  // the client is on another node: encode here, where an
                         // error can still be reported
  phase phase_ = phase::active;
  bool body_ended_ = false;
  bool delivery_confirmed_ = false; // the client has received the completion
                                    // message, is gone, or is local
  bool was_ended_ = false;          // from outside, and not by its body
  bool time_out_is_set_ = false;    // in CAF's clock, for another node
  bool is_stopping_ = false;        // an exit message has come

  struct hidden_error {
    std::string text;
    caf::error replacement;
  };
  std::unique_ptr<hidden_error>
    hidden_error_; // keeps the id of an error that is reported again

  std::unique_ptr<kept_run> run_; // null if the run is not kept

  // Conversations only.
  session_actor session_;  // null once it has ended
  bool leased_ = false;    // the session is in a store: others may know it
  bool is_branch_ = false; // it continues from a snapshot, not from its head
  std::uint64_t first_inputs_ = 0;    // of the conversation, before this run
  std::uint64_t stored_inputs_ = 0;   // of the conversation, in its store
  std::unique_ptr<turn_names> names_; // null if no turn has a name
  std::uint64_t ended_inputs_ = 0;    // taken when the last turn ended
  responder_actor responder_;         // null before the first event
  std::unique_ptr<snapshot_requests>
    snapshots_;                              // null before the first request
  std::unique_ptr<custom_deltas> deltas_;    // null if the client wants none
  std::unique_ptr<start_state> start_state_; // until the body starts
  payload output_;                           // kept for the completion message
  caf::error reason_;

  std::vector<nested_connection*> nested_;

  // Destroyed first: the frames refer to everything above.
  std::optional<task<payload>> body_;
};

} // namespace tertulia::detail
