// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "message/channel.hpp"
#include "message/exchange.hpp"
#include "server/server_core.hpp"
#include "talk/frame.hpp"
#include "talk/talk.hpp"

namespace tertulia::web {

/// Returns whether a client opens a kept run, or attaches to one.
/// @errors throws `unavailable` if so and the server is stopping: the server
///         would end the connection at once, and nothing has begun yet.
bool is_kept_run(const open_terms& terms, const exchange& x);

/// Client of a run for one request.
///
/// When the client of the request is gone, the run is left; when the server
/// stops, it is left after its turn if it is kept, and its input is closed
/// otherwise.
///
/// @threads  those of the request.
/// @lifetime in the coroutine of its handler.
class run_stream {
public:
  /// @errors as `is_kept_run`.
  run_stream(server_core& server, exchange& x, const json_action& action,
             std::unique_ptr<open_terms> terms);

  run_stream(const run_stream&) = delete;
  run_stream& operator=(const run_stream&) = delete;

  ~run_stream();

  [[nodiscard]] const talk& client() const noexcept {
    return client_;
  }

  /// Waits for the answer to the opening.
  /// @returns whether the run is open.
  net::awaitable<bool> open();

  /// As `open`, and answers the request if the run is not open.
  net::awaitable<bool> wait_until_open();

  /// Returns the answer to the opening: its first frame, or an error.
  [[nodiscard]] const frame& opened() const noexcept {
    return opened_;
  }

  /// Waits for frames, and takes all of them.
  /// @returns as `channel_reader::take`
  net::awaitable<channel_reader<frame>::outcome>
  take(std::vector<frame>& frames,
       clock::time_point until = clock::time_point::max());

private:
  /// Counts frames that were taken.
  void count(const std::vector<frame>& frames) noexcept;

  exchange& exchange_;
  channel_reader<frame> reader_;
  bool is_kept_; ///< the run goes on without this client
  talk client_;
  frame opened_;
  std::vector<frame> first_; ///< that came with the answer to the opening
  std::size_t taken_ = 0;    ///< bytes, since the run was told of it
  bool has_ended_ = false;   ///< the last frame was taken
};

/// Writes the frames of a run as an event stream, until the run has ended or
/// the client is gone.
net::awaitable<void> write_events(exchange& x, run_stream& run);

} // namespace tertulia::web
