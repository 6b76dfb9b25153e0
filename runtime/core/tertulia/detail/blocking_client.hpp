// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/action.hpp>
#include <tertulia/detail/client_end.hpp>
#include <tertulia/detail/return_path.hpp>
#include <tertulia/open.hpp>
#include <tertulia/protocol.hpp>

#include <caf/actor_system.hpp>
#include <caf/timespan.hpp>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>

namespace tertulia::detail {

class remote_desk;

/// Connection for threads: a sink actor stores incoming messages behind a
/// mutex, where threads wait for them.
///
/// The sink lives until the completion message has arrived. Dropping the client
/// before that cancels the connection, and then only the sink receives its end.
///
/// @threads all members; one reader at a time.
class blocking_client {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// End of a wait; unlimited if empty.
  using limit = std::optional<time_point>;

  static limit limit_of(std::optional<caf::timespan> within);

  /// Opens a connection and waits until it is open.
  ///
  /// @param action the action if it belongs to this process: inputs are then
  ///             checked before they are sent.
  /// @param remote desk of another node: a client of a kept run comes back
  ///             through it when its link is lost; null for this process.
  /// @errors throws errors of the front desk or the connection;
  ///         `deadline_exceeded`; `failed_precondition` on a thread of the
  ///         scheduler, as all functions here that wait.
  static std::shared_ptr<blocking_client>
  connect(caf::actor_system& system, const front_desk_actor& desk,
          open_request request, std::shared_ptr<const action> action,
          std::shared_ptr<remote_desk> remote = nullptr);

  blocking_client(caf::actor_system& system, const open_request& request,
                  std::shared_ptr<const action> action);

  blocking_client(const blocking_client&) = delete;
  blocking_client& operator=(const blocking_client&) = delete;

  // -- for the sink -----------------------------------------------------------

  void on_opened(const open_result& x, bool remote);

  /// As `return_path::question`. Until the answer, everything that arrives is
  /// dropped.
  [[nodiscard]] std::optional<open_request> question(const return_path& path);

  /// As `return_path::after`.
  [[nodiscard]] return_path::step after_failure(return_path& path,
                                                const caf::error& reason);

  /// Handles the answer to one of these requests: sends again what the run, or
  /// the session, does not have.
  /// @returns false if the client has ended meanwhile.
  bool on_returned(const open_result& x, bool is_reopened);

  template <class Message>
  void on(Message&& x) {
    const std::lock_guard guard{mutex_};
    end_.on(std::forward<Message>(x));
    if (end_.has_unsent())
      send_again(end_.due_inputs());
    if (end_.is_skipping())
      grant(true);
    changed_.notify_all();
  }

  /// @returns whether the message was for this client, which has ended then.
  bool on(completion&& x);

  /// Handles a connection that did not open, or was lost without a completion
  /// message.
  void on_lost(caf::error reason);

  // -- for threads ------------------------------------------------------------

  /// @errors throws `failed_precondition` after a close or an output,
  ///         `cancelled`, the error that ended the connection,
  ///         `deadline_exceeded`.
  void send(payload value, limit until);

  void close();

  void cancel();

  /// Leaves a kept run, which goes on; cancels another one. For the client the
  /// connection has ended then.
  void leave();

  /// Result of a read.
  enum class found { chunks, turn_end, end };

  /// Waits for the next chunks or the next end in the stream. The chunks of the
  /// previous call count as consumed.
  /// @errors throws the error that ended the connection; `deadline_exceeded`.
  found read(chunk_batch& into, limit until);

  /// Marks the calling thread as the reader until `stop_reading`: `output` then
  /// leaves the stream to it.
  void start_reading();
  void stop_reading() noexcept;

  /// Waits for the output; drops the unread stream unless another thread reads
  /// it.
  /// @errors throws the error that ended the connection; `deadline_exceeded`.
  payload output(limit until);

  /// Ends the connection because one of its messages does not have the types of
  /// the client, and notifies all waiting threads.
  /// @errors always throws the error that ended the connection.
  [[noreturn]] void reject(caf::error reason);

  /// Waits until the connection has ended.
  /// @returns whether it has ended.
  bool wait_until_done(limit until);

  /// Returns the number of inputs that the body has not read, once the
  /// connection has ended.
  std::uint64_t unread_inputs();

  /// Returns the last state of a failed conversation; see
  /// `client_end::last_state`.
  payload last_state();

  /// Returns the session of a conversation.
  session_id session();

  /// Returns the position in the log of a kept run.
  /// @param unread number of chunks that were read and not consumed.
  cursor position(std::size_t unread);

  /// Returns the id of the trace; empty if the connection is not traced.
  std::string trace_id();

  /// Returns the snapshot of the last end of a turn that was read.
  snapshot_id last_snapshot();

  std::optional<ai::finish_reason> finish_reason();

  turn_progress turn_found();

  bool opened_in_turn();

  /// Returns whether the connection has ended and the stream was read to its
  /// end.
  bool finished();

private:
  template <class Predicate>
  bool wait(std::unique_lock<std::mutex>& guard, limit until, Predicate ready);

  void grant(bool waiting);

  /// Sends inputs again, and the close that has followed them.
  void send_again(std::vector<turn_input> inputs);

  caf::actor_system& system_; // lives at least until the connection has ended
  std::mutex mutex_;
  std::condition_variable changed_;
  client_end end_;
  std::shared_ptr<const action> action_;
  connection_actor connection_;
  bool remote_ = false;
  std::uint32_t batch_size_ = 0; // chunks of the last batch of the reader
  std::optional<std::thread::id> reader_;
};

} // namespace tertulia::detail
