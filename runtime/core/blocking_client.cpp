// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/blocking_caller.hpp>
#include <tertulia/detail/blocking_client.hpp>
#include <tertulia/detail/client_verbs.hpp>
#include <tertulia/detail/remote_desk.hpp>
#include <tertulia/detail/timer.hpp>

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

namespace tertulia::detail {

namespace {

/// A sink with a clock of its own, for the pauses between attempts to return.
using sink_actor
  = chunk_sink::extend<caf::replies_to<caf::tick_atom>::with<void>>;

/// State of the sink of one blocking client.
class sink_state {
public:
  static inline const char* name = "tertulia.client";

  explicit sink_state(sink_actor::pointer self) : self_(self) {}

  /// Ends every wait for messages that can no longer arrive, however the sink
  /// ends.
  ~sink_state() {
    if (client_)
      client_->on_lost(
        fail(errc::unavailable, "the receiver of the connection has ended"));
  }

  sink_actor::behavior_type
  make_behavior(std::shared_ptr<blocking_client> client,
                const front_desk_actor& desk, open_request open_message,
                caf::timespan within, std::shared_ptr<remote_desk> remote) {
    client_ = std::move(client);
    if (remote)
      return_ = std::make_unique<return_path>(std::move(remote));
    self_->set_down_handler([this](caf::down_msg& x) { on_down(x); });
    open_message.client = self_;
    ask(
      desk, for_request(within), std::move(open_message),
      [this](const open_result& x) {
        client_->on_opened(x, x.connection.node() != self_->node());
      },
      [this](caf::error& reason) { lose(std::move(reason)); });
    return {
      [this](chunk_batch& x) { client_->on(std::move(x)); },
      [this](input_credit x) { client_->on(x); },
      [this](turn_end& x) { client_->on(std::move(x)); },
      [this](completion& x) {
        if (return_ && return_->until)
          return; // of the reader that was lost
        client_->on(std::move(x));
        self_->quit();
      },
      [this](caf::tick_atom) { look_for_desk(); },
    };
  }

private:
  /// Asks a desk for the connection, which is monitored.
  template <class OnOpened, class OnError>
  void ask(const front_desk_actor& desk, caf::duration within,
           open_request question, OnOpened on_opened, OnError on_error) {
    // CAF does not answer a request to a node that is lost.
    if (desk.node() != self_->node())
      self_->monitor(desk);
    self_->request(desk, within, std::move(question))
      .then(
        [this, from = desk.address(), on_opened](const open_result& x) {
          // The desk outlives the sink and must not keep its monitor.
          self_->demonitor(from);
          self_->monitor(x.connection);
          on_opened(x);
        },
        [this, from = desk.address(), on_error](caf::error& reason) {
          self_->demonitor(from);
          on_error(reason);
        });
  }

  void on_down(const caf::down_msg& x) {
    const auto reason = lost_connection(x.reason);
    if (!return_ || !return_->until)
      return begin_to_return(reason);
    if (x.source == return_->desk)
      fail_to_return(return_->attempt, reason);
  }

  void lose(caf::error reason) {
    client_->on_lost(std::move(reason));
    self_->quit();
  }

  // -- coming back ------------------------------------------------------------

  /// Looks for the run again, if it may still be there.
  void begin_to_return(const caf::error& reason) {
    if (!return_ || !may_pass(reason) || !client_->request_to_return())
      return lose(reason);
    const auto& policy = return_->remote->policy();
    return_->until = clock::now() + policy.patience;
    return_->reopens = false;
    return_->pause = policy.first_pause;
    look_for_desk();
  }

  void look_for_desk() {
    const auto attempt = ++return_->attempt;
    if (!return_->remote->is_lost())
      return attach(attempt, return_->remote->desk());
    // The attempt has a time limit of its own, and always answers.
    self_
      ->request(remote_desk::spawn_connector(return_->remote), caf::infinite,
                caf::connect_atom_v)
      .then(
        [this, attempt](const caf::actor& found) {
          attach(attempt, caf::actor_cast<front_desk_actor>(found));
        },
        [this, attempt](caf::error& reason) {
          fail_to_return(attempt, reason);
        });
  }

  void attach(std::uint64_t attempt, const front_desk_actor& desk) {
    const auto reopens = return_->reopens;
    auto question
      = reopens ? client_->request_to_reopen() : client_->request_to_return();
    if (!question)
      return self_->quit(); // it has ended meanwhile
    question->client = self_;
    return_->desk = desk.address();
    ask(
      desk, for_request(return_->remote->within()), std::move(*question),
      [this, attempt, reopens](const open_result& x) {
        if (attempt != return_->attempt)
          return; // too late: the next attempt takes over
        return_->until.reset();
        if (!client_->on_returned(x, reopens))
          self_->quit();
      },
      [this, attempt, desk](caf::error& reason) {
        if (attempt == return_->attempt && return_->until && !return_->reopens
            && code_of(reason) == errc::not_found
            && client_->request_to_reopen()) {
          return_->reopens = true; // the run is lost, the session is not
          return attach(attempt, desk);
        }
        fail_to_return(attempt, reason);
      });
  }

  /// Tries again after a pause, or gives up.
  void fail_to_return(std::uint64_t attempt, const caf::error& reason) {
    if (attempt != return_->attempt || !return_->until)
      return; // an error of an attempt that is over, such as its time-out
    ++return_->attempt;
    if (!may_pass(reason, return_->reopens)
        || clock::now() + return_->pause > *return_->until)
      return lose(reason);
    // Some of the pause is random, so that many clients do not come at once.
    std::uniform_int_distribution<int> part{50, 100}; // per cent
    self_->delayed_send(self_, return_->pause * part(return_->random) / 100,
                        caf::tick_atom_v);
    return_->pause
      = std::min(return_->pause * 2, return_->remote->policy().longest_pause);
  }

  /// Returns whether the error is one of the link, which may come back, or one
  /// of a session whose last run is still ending.
  static bool may_pass(const caf::error& reason, bool reopens = false) {
    const auto code = code_of(reason);
    return code == errc::unavailable || code == errc::deadline_exceeded
           || (reopens && code == errc::failed_precondition);
  }

  using clock = std::chrono::steady_clock;

  struct return_path {
    explicit return_path(std::shared_ptr<remote_desk> remote)
      : remote(std::move(remote)), random(std::random_device{}()) {}

    std::shared_ptr<remote_desk> remote;
    std::optional<clock::time_point> until; ///< empty while the link is there
    bool reopens = false;                   ///< the session, not its run
    std::uint64_t attempt = 0;              ///< number of the current attempt
    caf::actor_addr desk;                   ///< that it asks
    caf::timespan pause{0};
    std::minstd_rand random;
  };

  sink_actor::pointer self_;
  std::shared_ptr<blocking_client> client_;
  std::unique_ptr<return_path> return_; ///< null for an action of this process
};

[[noreturn]] void raise_timeout() {
  throw status_error{errc::deadline_exceeded, "the wait has timed out"};
}

} // namespace

blocking_client::limit
blocking_client::limit_of(std::optional<caf::timespan> within) {
  if (!within)
    return std::nullopt;
  const auto now = std::chrono::steady_clock::now();
  if (*within > time_point::max() - now) // beyond the range of the clock
    return std::nullopt;
  return now + *within;
}

std::shared_ptr<blocking_client>
blocking_client::connect(caf::actor_system& system,
                         const front_desk_actor& desk, open_request request,
                         caf::timespan within,
                         std::shared_ptr<const action> action,
                         std::shared_ptr<remote_desk> remote) {
  check_may_block(system);
  if (desk.node() != system.node())
    request.init = request.init.sealed();
  auto client
    = std::make_shared<blocking_client>(system, request, std::move(action));
  if (remote)
    client->end_.keep_stored_inputs();
  system.spawn<caf::hidden>(
    [](sink_actor::stateful_pointer<sink_state> self,
       std::shared_ptr<blocking_client> client, const front_desk_actor& desk,
       open_request request, caf::timespan within,
       std::shared_ptr<remote_desk> remote) {
      return self->state.make_behavior(
        std::move(client), desk, std::move(request), within, std::move(remote));
    },
    client, desk, std::move(request), within, std::move(remote));
  std::unique_lock guard{client->mutex_};
  client->changed_.wait(guard, [&] {
    return client->connection_ || client->end_.ended();
  });
  if (!client->connection_)
    raise(client->end_.failure());
  return client;
}

blocking_client::blocking_client(caf::actor_system& system,
                                 const open_request& request,
                                 std::shared_ptr<const action> action)
  : system_(system), end_(request.options.chunk_window,
                          request.options.attach ? request.options.attach->role
                                                 : client_role::talker),
    key_(request.key), init_(request.init), options_(request.options),
    action_(std::move(action)) {}

// -- for the sink -------------------------------------------------------------

void blocking_client::on_opened(const open_result& x, bool remote) {
  const std::lock_guard guard{mutex_};
  connection_ = x.connection;
  remote_ = remote;
  end_.on(x);
  greet(connection_, end_);
  changed_.notify_all();
}

void blocking_client::on(completion&& x) {
  const std::lock_guard guard{mutex_};
  // The sink quits, so it cannot answer a question of the connection. A client
  // that has left before did not receive the end.
  if (connection_ && !end_.ended())
    confirm(connection_, end_, system_.node());
  end_.on(std::move(x));
  end_.add_state_to_failure();
  changed_.notify_all();
}

std::optional<open_request> blocking_client::request_to_return() {
  const std::lock_guard guard{mutex_};
  if (!end_.can_return())
    return std::nullopt;
  return open_request{key_, {}, end_.begin_to_return(), {}};
}

std::optional<open_request> blocking_client::request_to_reopen() {
  const std::lock_guard guard{mutex_};
  if (!end_.can_reopen())
    return std::nullopt;
  return open_request{key_, init_, end_.begin_to_reopen(options_), {}};
}

bool blocking_client::on_returned(const open_result& x, bool is_reopened) {
  const std::lock_guard guard{mutex_};
  if (!end_.ended()) // else left meanwhile
    connection_ = x.connection;
  auto inputs = std::vector<turn_input>{};
  if (!end_.ended())
    inputs = is_reopened ? end_.on_reopened(x) : end_.on_returned(x);
  if (end_.ended()) {
    decline(x);
    changed_.notify_all();
    return false;
  }
  if (is_reopened)
    greet(connection_, end_);
  send_again(std::move(inputs));
  if (end_.cancelled())
    tell(connection_, end_, cancel_atom_v);
  changed_.notify_all(); // readers grant credit
  return true;
}

void blocking_client::send_again(std::vector<turn_input> inputs) {
  for (auto& again : inputs)
    caf::anon_send(connection_, std::move(again));
  if (end_.closed() && !end_.has_unsent())
    tell(connection_, end_, caf::close_atom_v);
}

void blocking_client::on_lost(caf::error reason) {
  const std::lock_guard guard{mutex_};
  end_.on_lost(std::move(reason));
  changed_.notify_all();
}

// -- for threads --------------------------------------------------------------

template <class Predicate>
bool blocking_client::wait(std::unique_lock<std::mutex>& guard, limit until,
                           Predicate ready) {
  // This is checked even if the call would not wait now: its result must not
  // depend on timing.
  if (!end_.ended() && (!until || *until > std::chrono::steady_clock::now()))
    check_may_block(system_);
  if (until)
    return changed_.wait_until(guard, *until, ready);
  changed_.wait(guard, ready);
  return true;
}

void blocking_client::send(payload value, limit until) {
  if (action_)
    value = action_->check_input(std::move(value));
  else if (remote_)
    value = value.sealed();
  std::unique_lock guard{mutex_};
  const auto in_time = wait(guard, until, [this] {
    return end_.send_error() || end_.has_input_credit();
  });
  if (auto send_error = end_.send_error())
    raise(send_error);
  if (!in_time)
    raise_timeout();
  end_.spend_input_credit();
  // Sent under the lock, so that no close overtakes an accepted input.
  caf::anon_send(connection_, end_.message_for(std::move(value)));
}

void blocking_client::close() {
  const std::lock_guard guard{mutex_};
  if (end_.close() && !end_.ended() && !end_.has_unsent())
    tell(connection_, end_, caf::close_atom_v);
  changed_.notify_all();
}

void blocking_client::cancel() {
  const std::lock_guard guard{mutex_};
  if (end_.cancel())
    tell(connection_, end_, cancel_atom_v);
  changed_.notify_all();
}

void blocking_client::leave() {
  const std::lock_guard guard{mutex_};
  detail::leave(connection_, end_);
  changed_.notify_all();
}

blocking_client::found blocking_client::read(chunk_batch& into, limit until) {
  std::unique_lock guard{mutex_};
  end_.count_consumed(std::exchange(batch_size_, 0));
  const auto in_time = wait(guard, until, [this] {
    const auto found = end_.next() != client_end::arrival::none;
    grant(!found);
    return found;
  });
  if (!in_time)
    raise_timeout();
  switch (end_.next()) {
    case client_end::arrival::chunks:
      into = end_.take_chunks();
      batch_size_ = into.size;
      return found::chunks;
    case client_end::arrival::turn_end:
      end_.take_turn_end();
      grant(false);
      return found::turn_end;
    default:
      if (const auto& failure = end_.failure())
        raise(failure);
      return found::end;
  }
}

void blocking_client::start_reading() {
  const std::lock_guard guard{mutex_};
  reader_ = std::this_thread::get_id();
}

void blocking_client::stop_reading() noexcept {
  const std::lock_guard guard{mutex_};
  reader_.reset();
  changed_.notify_all();
}

payload blocking_client::output(limit until) {
  std::unique_lock guard{mutex_};
  const auto me = std::this_thread::get_id();
  const auto in_time = wait(guard, until, [&] {
    // No other thread will read the queued chunks or the rest of the last
    // batch. They must not delay the end of the run.
    if (!reader_ || *reader_ == me) {
      end_.count_consumed(std::exchange(batch_size_, 0));
      end_.drop_unread();
      grant(true);
    }
    return end_.ended();
  });
  if (!in_time)
    raise_timeout();
  if (const auto& failure = end_.failure())
    raise(failure);
  return end_.output();
}

void blocking_client::reject(caf::error reason) {
  const std::lock_guard guard{mutex_};
  if (!end_.ended())
    tell(connection_, end_, cancel_atom_v);
  end_.reject(std::move(reason));
  changed_.notify_all();
  raise(end_.failure());
}

bool blocking_client::wait_until_done(limit until) {
  std::unique_lock guard{mutex_};
  return wait(guard, until, [this] { return end_.ended(); });
}

std::uint64_t blocking_client::unread_inputs() {
  const std::lock_guard guard{mutex_};
  return end_.unread_inputs();
}

payload blocking_client::last_state() {
  const std::lock_guard guard{mutex_};
  return end_.last_state();
}

session_id blocking_client::session() {
  const std::lock_guard guard{mutex_};
  return end_.session();
}

cursor blocking_client::position(std::size_t unread) {
  const std::lock_guard guard{mutex_};
  // Unread chunks may be those of a run that was lost.
  const auto read = end_.position();
  return {end_.run(), read - std::min<std::uint64_t>(read, unread)};
}

std::string blocking_client::trace_id() {
  const std::lock_guard guard{mutex_};
  return end_.trace_id();
}

snapshot_id blocking_client::last_snapshot() {
  const std::lock_guard guard{mutex_};
  return end_.last_snapshot();
}

std::optional<ai::finish_reason> blocking_client::finish_reason() {
  std::lock_guard guard{mutex_};
  return end_.finish_reason();
}

turn_progress blocking_client::turn_found() {
  const std::lock_guard guard{mutex_};
  return end_.turn_found();
}

bool blocking_client::finished() {
  const std::lock_guard guard{mutex_};
  return end_.next() == client_end::arrival::end;
}

void blocking_client::grant(bool waiting) {
  if (const auto due = end_.credit_due(waiting); due > 0)
    caf::anon_send(connection_, chunk_credit{due, end_.reader()});
}

} // namespace tertulia::detail
