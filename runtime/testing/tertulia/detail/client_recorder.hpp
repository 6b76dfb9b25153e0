// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/errc.hpp>
#include <tertulia/open.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/status_error.hpp>
#include <tertulia/turn.hpp>

#include <caf/actor_system.hpp>
#include <caf/error.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tertulia::detail {

/// Messages that a `testing::recording_client` has received, without the values
/// of the chunks.
struct recorded_messages {
  recorded_messages() = default;
  virtual ~recorded_messages() = default;

  /// Records the values of a batch.
  virtual void add(chunk_batch& x) = 0;

  std::optional<open_result> open;
  caf::error refused;                 ///< reason if the open failed
  std::vector<std::uint32_t> batches; ///< sizes, in order
  std::uint64_t next = 0;   ///< expected number of what follows in the log
  std::uint32_t gaps = 0;   ///< batches and ends with an unexpected number
  std::uint64_t inputs = 0; ///< number of the next input of a kept run
  std::uint32_t input_credit = 0;    ///< credit that is left
  std::uint32_t credit_messages = 0; ///< credit in separate messages
  std::uint64_t turns = 0;
  std::optional<turn_end> last_turn; ///< without its chunks
  std::optional<completion> end;
  std::uint32_t ends = 0; ///< completion messages: at most one

protected:
  recorded_messages(const recorded_messages&) = default;
  recorded_messages& operator=(const recorded_messages&) = default;
};

/// Part of a `testing::recording_client` that does not depend on the types of
/// the action.
///
/// @threads only the thread of its runtime.
class client_recorder {
public:
  client_recorder(const client_recorder&) = delete;
  client_recorder& operator=(const client_recorder&) = delete;

  /// Returns the error code of the completion message; `errc::ok` if the body
  /// returned.
  [[nodiscard]] errc code() const;

  /// Returns the error in the completion message; `ok` if the body returned.
  [[nodiscard]] status_error error() const;

  [[nodiscard]] const chunk_sink& sink() const noexcept {
    return sink_;
  }

  [[nodiscard]] connection_actor connection() const;

  // -- credit and the end -----------------------------------------------------

  void grant(std::uint32_t chunks);

  /// Closes the input without running an actor.
  void post_close();

  void close();

  /// Cancels the connection without running an actor.
  void post_cancel();

  void cancel();

  /// Leaves a kept run, without running an actor.
  void post_detach();

  /// Leaves a kept run.
  /// @returns the position from which another client continues.
  cursor detach();

  /// Returns the position in the log of a kept run.
  [[nodiscard]] cursor position() const;

  /// Kills the client as if its process had died, without running an actor.
  void post_death();

  void die();

protected:
  /// Sends an open request without running an actor.
  client_recorder(caf::actor_system& system, const front_desk_actor& desk,
                  open_request request, std::shared_ptr<recorded_messages> log);

  ~client_recorder();

  /// Sends an input without running an actor.
  void post_payload(payload value, std::uint32_t credit);

  /// Runs all actors until they are idle.
  void run_all();

private:
  [[nodiscard]] bool is_kept() const;
  [[nodiscard]] std::uint32_t reader() const;
  [[nodiscard]] run_actor run() const;

  caf::actor_system* system_;
  std::shared_ptr<recorded_messages> log_;
  chunk_sink sink_;
};

} // namespace tertulia::detail
