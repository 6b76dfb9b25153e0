// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/model.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace tertulia::detail {

/// The streamed pieces of a model's answer, for comparison with the whole
/// answer.
///
/// Texts are compared by their bytes, other parts by their number: a tool
/// request may be streamed in a form of its own.
///
/// @threads not thread-safe: the owner serialises.
class streamed_answer {
public:
  /// Adds a streamed piece.
  void add(const ai::model_response_chunk& x);

  /// Returns the part of an answer that was not streamed; empty if all was. A
  /// text that does not begin with the streamed one counts as streamed, since
  /// streamed chunks cannot be withdrawn.
  [[nodiscard]] std::optional<ai::model_response_chunk>
  rest_of(const ai::message& answer) const;

private:
  std::int64_t index_ = 0; // index of the message in the answer
  std::string text_;
  std::string reasoning_;
  std::array<std::size_t, std::variant_size_v<ai::part::value_type>> others_{};
};

} // namespace tertulia::detail
