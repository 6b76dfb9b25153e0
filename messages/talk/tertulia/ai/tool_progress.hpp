// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/part.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

// A tool that works for long reports its progress (`tool_context::report`). The
// reports are streamed to the client as data parts of chunks with the role
// `tool`; neither the model nor the session gets them.
//
// Design: docs/tools.md#progress.

namespace tertulia::ai {

/// Metadata key of a part that is a report of a tool: the tool's name and the
/// reference of the request.
inline constexpr auto progress_key = "toolProgress";

/// Report of a tool that has not responded yet.
///
/// @threads a value.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON asserts
struct tool_progress {
  // NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
  tool_progress() = default;

  tool_progress(std::string name, std::string ref, json value)
    : name(std::move(name)), ref(std::move(ref)), value(std::move(value)) {}

  /// Name of the tool.
  std::string name;
  /// Reference of the model's request; may be empty.
  std::string ref;
  /// Report, any JSON.
  json value;
};

BOOST_DESCRIBE_STRUCT(tool_progress, (), (name, ref, value))

/// Returns the part that reports progress to a client.
/// @threads from any thread.
[[nodiscard]] part progress_part(tool_progress x);

/// Returns the reports in the parts of a chunk.
/// @threads from any thread.
[[nodiscard]] std::vector<tool_progress>
progress_in(std::span<const part> parts);

} // namespace tertulia::ai
