// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/describe.hpp>

#include <cstdint>

namespace tertulia::ai {

/// Reason for which a model ended its answer, and a conversation its turn.
/// Stored by name; append only.
/// @design docs/genkit.md 003 §1.3: `ai.FinishReason`.
enum class finish_reason : std::uint8_t {
  /// The answer is complete.
  stop,
  /// The answer reached its maximum length.
  length,
  /// The answer was withheld.
  blocked,
  /// The answer waits for a third party, such as a tool that asks a person.
  interrupted,
  other,
  unknown,
};

BOOST_DESCRIBE_ENUM(finish_reason, stop, length, blocked, interrupted, other,
                    unknown)

} // namespace tertulia::ai
