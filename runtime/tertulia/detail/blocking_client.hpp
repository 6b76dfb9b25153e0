// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/action.hpp>
#include <tertulia/detail/client_end.hpp>
#include <tertulia/open.hpp>
#include <tertulia/protocol.hpp>

#include <caf/actor_system.hpp>
#include <caf/timespan.hpp>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>

namespace tertulia::detail {

/// A connection as threads see it: a sink actor moves what arrives behind a
/// mutex, where threads wait for it.
///
/// The sink lives until the last word has come; dropping the client before that
/// cancels the connection, and the sink then hears its end alone.
///
/// @threads all members; one reader at a time.
class blocking_client {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// When a wait gives up; never if empty.
  using limit = std::optional<time_point>;

  static limit limit_of(std::optional<caf::timespan> within);

  /// Opens a connection and waits until it is open.
  ///
  /// @param what the action if it is of this process: inputs are then checked
  ///             before they are sent.
  /// @errors throws what the front desk or the connection answers;
  ///         `deadline_exceeded`; `failed_precondition` on a thread of the
  ///         scheduler, as does everything here that waits.
  static std::shared_ptr<blocking_client>
  connect(caf::actor_system& system, const front_desk_actor& desk, open what_to,
          caf::timespan within, std::shared_ptr<const action> what);

  blocking_client(caf::actor_system& system, std::uint32_t chunk_window,
                  std::shared_ptr<const action> what);

  blocking_client(const blocking_client&) = delete;
  blocking_client& operator=(const blocking_client&) = delete;

  // -- for the sink -----------------------------------------------------------

  void on_opened(const opened& x, bool remote);

  template <class Message>
  void on(Message&& x) {
    const std::lock_guard guard{mutex_};
    end_.on(std::forward<Message>(x));
    if constexpr (std::is_same_v<std::remove_cvref_t<Message>,
                                 tertulia::finished>)
      end_.explain_failure();
    changed_.notify_all();
  }

  /// The connection did not open, or has gone without a last word.
  void on_lost(caf::error reason);

  // -- for threads ------------------------------------------------------------

  /// @errors throws `failed_precondition` after a close or an output,
  ///         `cancelled`, what ended the connection, `deadline_exceeded`.
  void send(payload value, limit until);

  void close();

  void cancel();

  /// What a reader found.
  enum class found { chunks, turn_end, end };

  /// Waits for what comes next in the stream. The reader has dealt with what it
  /// was given the last time.
  /// @errors throws what ended the connection; `deadline_exceeded`.
  found read(chunk_batch& into, limit until);

  /// Marks the calling thread as the reader until `stop_reading`: `output` then
  /// leaves the stream to it.
  void start_reading();
  void stop_reading() noexcept;

  /// Waits for the output; unless another thread reads the stream, drops what
  /// is in it.
  /// @errors throws what ended the connection; `deadline_exceeded`.
  payload output(limit until);

  /// Ends the connection because what it said cannot be read as the types of
  /// the client: everybody hears of it.
  /// @errors always throws what ended the connection.
  [[noreturn]] void reject(caf::error reason);

  /// Waits until the connection has ended.
  /// @returns whether it has.
  bool wait_until_done(limit until);

  /// How many inputs the body has not taken, once the connection has ended.
  std::uint64_t unread_inputs();

  /// What a failed conversation had come to; see `client_end::last_state`.
  payload last_state();

  /// Whether the connection has ended and the stream was read to its end.
  bool finished();

private:
  template <class Predicate>
  bool wait(std::unique_lock<std::mutex>& guard, limit until, Predicate ready);

  void grant(bool waiting);

  caf::actor_system& system_; // lives at least until the connection has ended
  std::mutex mutex_;
  std::condition_variable changed_;
  client_end end_;
  std::shared_ptr<const action> what_;
  connection_actor connection_;
  bool remote_ = false;
  std::uint32_t in_hand_ = 0; // chunks that the reader was given last
  std::optional<std::thread::id> reader_;
};

} // namespace tertulia::detail
