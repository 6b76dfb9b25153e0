// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/finish_reason.hpp>
#include <tertulia/errc.hpp>
#include <tertulia/run.hpp>
#include <tertulia/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tertulia::web {

/// Kind of a frame, in the order in which a run sends them.
enum class frame_kind : std::uint8_t {
  opened,   ///< First: the position of the client in the run.
  chunks,   ///< Array of chunks.
  turn_end, ///< End of a turn.
  flushed,  ///< All inputs were sent: the answer to `talk::flush`.
  refusal,  ///< An input was not taken; the run goes on.
  output,   ///< Last: the run has ended.
  error,    ///< Last: the run has failed, or did not open.
};

/// Position in a conversation that a frame of an opening or of an end of a turn
/// reports.
struct frame_position {
  run_id run;         ///< of an opening
  session_id session; ///< of an opening
  snapshot_id snapshot;
  std::optional<ai::finish_reason> finish_reason; ///< of an end of a turn
};

/// Event of a run, for a client.
struct frame {
  frame_kind kind = frame_kind::opened;
  /// Number in the log of what follows it.
  std::uint64_t next = 0;
  errc code = errc::ok; ///< of an error
  /// JSON, on one line; empty if the client needs the position only.
  std::string text;
  std::shared_ptr<const frame_position> position; ///< null for other kinds
};

/// Returns about how many bytes a frame takes in memory.
[[nodiscard]] inline std::size_t size_of(const frame& x) noexcept {
  return sizeof(frame) + x.text.size()
         + (x.position ? sizeof(frame_position) : 0);
}

/// Returns whether nothing follows.
[[nodiscard]] constexpr bool is_last(frame_kind x) noexcept {
  return x == frame_kind::output || x == frame_kind::error;
}

/// Returns the name of a kind in the protocols of the server.
[[nodiscard]] constexpr const char* name_of(frame_kind x) noexcept {
  switch (x) {
    case frame_kind::opened: return "opened";
    case frame_kind::chunks: return "chunks";
    case frame_kind::turn_end: return "turnEnd";
    case frame_kind::flushed: return "flushed";
    case frame_kind::refusal: return "refused";
    case frame_kind::output: return "output";
    default: return "error";
  }
}

} // namespace tertulia::web
