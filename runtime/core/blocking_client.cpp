// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/blocking_caller.hpp>
#include <tertulia/detail/blocking_client.hpp>
#include <tertulia/detail/client_verbs.hpp>
#include <tertulia/detail/decline.hpp>
#include <tertulia/detail/remote_desk.hpp>

#include <caf/send.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include "client_sink.hpp"

namespace tertulia::detail {

namespace {

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
                         std::shared_ptr<const action> action,
                         std::shared_ptr<remote_desk> remote) {
  check_may_block(system);
  if (desk.node() != system.node())
    request.seal();
  auto client
    = std::make_shared<blocking_client>(system, request, std::move(action));
  if (remote)
    client->end_.keep_stored_inputs();
  spawn_client_sink(system, client, desk, std::move(request),
                    std::move(remote));
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
  : system_(system), end_(request), action_(std::move(action)) {}

// -- for the sink -------------------------------------------------------------

void blocking_client::on_opened(const open_result& x, bool remote) {
  const std::lock_guard guard{mutex_};
  connection_ = x.connection;
  remote_ = remote;
  end_.on(x);
  greet(connection_, end_);
  changed_.notify_all();
}

bool blocking_client::on(completion&& x) {
  const std::lock_guard guard{mutex_};
  if (!end_.is_for(x.reader))
    return false;
  // A run of this process gets no answer to its end. A client that has left
  // before did not receive the end.
  if (connection_ && !end_.ended())
    confirm(connection_, end_);
  end_.on(std::move(x));
  end_.add_state_to_failure();
  changed_.notify_all();
  return true;
}

std::optional<open_request> blocking_client::question(const return_path& path) {
  const std::lock_guard guard{mutex_};
  return path.question(end_);
}

return_path::step blocking_client::after_failure(return_path& path,
                                                 const caf::error& reason) {
  const std::lock_guard guard{mutex_};
  return path.after(reason, end_);
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
    return !end_.can_send() || end_.has_input_credit();
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

bool blocking_client::opened_in_turn() {
  const std::lock_guard guard{mutex_};
  return end_.opened_in_turn();
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
