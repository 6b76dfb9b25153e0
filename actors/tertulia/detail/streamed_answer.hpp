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

/// The pieces of a model's answer that were streamed, to compare the whole
/// answer with.
///
/// Texts are compared by their bytes, other parts by their number: a request
/// for a tool may be streamed in a form of its own.
///
/// @threads none of its own.
class streamed_answer {
public:
  /// Notes a piece.
  void add(const ai::model_response_chunk& x);

  /// Returns the part of an answer that no piece had; empty if there is none.
  /// A text that does not begin with the streamed one counts as streamed, since
  /// nothing can be taken back.
  [[nodiscard]] std::optional<ai::model_response_chunk>
  rest_of(const ai::message& answer) const;

private:
  std::int64_t index_ = 0; // which message of the answer
  std::string text_;
  std::string reasoning_;
  std::array<std::size_t, std::variant_size_v<ai::part::value_type>> others_{};
};

} // namespace tertulia::detail
