// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/blocking_caller.hpp>
#include <tertulia/detail/blocking_client.hpp>
#include <tertulia/detail/timer.hpp>

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <utility>

namespace tertulia::detail {

namespace {

/// State of the sink of one blocking client.
class sink_state {
public:
  static inline const char* name = "tertulia.client";

  explicit sink_state(chunk_sink::pointer self) : self_(self) {}

  /// Ends every wait for messages that can no longer arrive, however the sink
  /// ends.
  ~sink_state() {
    if (client_)
      client_->on_lost(
        fail(errc::unavailable, "the receiver of the connection has ended"));
  }

  chunk_sink::behavior_type
  make_behavior(std::shared_ptr<blocking_client> client,
                const front_desk_actor& desk, open_request open_message,
                caf::timespan within) {
    client_ = std::move(client);
    self_->set_down_handler([this](caf::down_msg& x) {
      client_->on_lost(lost_connection(x.reason));
      self_->quit();
    });
    // CAF does not answer a request to a node that is lost.
    if (desk.node() != self_->node())
      self_->monitor(desk);
    open_message.client = self_;
    self_->request(desk, for_request(within), std::move(open_message))
      .then(
        [this, from = desk.address()](const open_result& x) {
          // The desk outlives the sink and must not keep its monitor.
          self_->demonitor(from);
          self_->monitor(x.connection);
          client_->on_opened(x, x.connection.node() != self_->node());
        },
        [this, from = desk.address()](caf::error& reason) {
          self_->demonitor(from);
          client_->on_lost(std::move(reason));
          self_->quit();
        });
    return {
      [this](chunk_batch& x) { client_->on(std::move(x)); },
      [this](input_credit x) { client_->on(x); },
      [this](turn_end& x) { client_->on(std::move(x)); },
      [this](completion& x) {
        client_->on(std::move(x));
        self_->quit();
      },
    };
  }

private:
  chunk_sink::pointer self_;
  std::shared_ptr<blocking_client> client_;
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
                         std::shared_ptr<const action> action) {
  check_may_block(system);
  if (desk.node() != system.node())
    request.init = request.init.sealed();
  auto client = std::make_shared<blocking_client>(
    system, request.options.chunk_window, std::move(action));
  system.spawn<caf::hidden>(
    [](chunk_sink::stateful_pointer<sink_state> self,
       std::shared_ptr<blocking_client> client, const front_desk_actor& desk,
       open_request request, caf::timespan within) {
      return self->state.make_behavior(std::move(client), desk,
                                       std::move(request), within);
    },
    client, desk, std::move(request), within);
  std::unique_lock guard{client->mutex_};
  client->changed_.wait(guard, [&] {
    return client->connection_ || client->end_.ended();
  });
  if (!client->connection_)
    raise(client->end_.failure());
  return client;
}

blocking_client::blocking_client(caf::actor_system& system,
                                 std::uint32_t chunk_window,
                                 std::shared_ptr<const action> action)
  : system_(system), end_(chunk_window), action_(std::move(action)) {}

// -- for the sink -------------------------------------------------------------

void blocking_client::on_opened(const open_result& x, bool remote) {
  const std::lock_guard guard{mutex_};
  connection_ = x.connection;
  remote_ = remote;
  end_.on(x);
  changed_.notify_all();
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
  caf::anon_send(connection_, turn_input{std::move(value), end_.take_credit()});
  end_.count_sent_input();
}

void blocking_client::close() {
  const std::lock_guard guard{mutex_};
  if (end_.close() && !end_.ended())
    caf::anon_send(connection_, caf::close_atom_v);
  changed_.notify_all();
}

void blocking_client::cancel() {
  const std::lock_guard guard{mutex_};
  if (end_.cancel())
    caf::anon_send(connection_, cancel_atom_v);
  changed_.notify_all();
}

blocking_client::found blocking_client::read(chunk_batch& into, limit until) {
  std::unique_lock guard{mutex_};
  end_.count_consumed(std::exchange(batch_size_, 0));
  grant(end_.next() == client_end::arrival::none);
  if (!wait(guard, until,
            [this] { return end_.next() != client_end::arrival::none; }))
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
    caf::anon_send(connection_, cancel_atom_v);
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

bool blocking_client::finished() {
  const std::lock_guard guard{mutex_};
  return end_.next() == client_end::arrival::end;
}

void blocking_client::grant(bool waiting) {
  if (const auto due = end_.credit_due(waiting); due > 0)
    caf::anon_send(connection_, chunk_credit{due});
}

} // namespace tertulia::detail
