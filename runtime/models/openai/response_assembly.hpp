// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/model.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tertulia::openai {

/// Assembly of an answer from the events of a stream.
///
/// @threads one at a time.
class response_assembly {
public:
  /// Takes the data of one event.
  /// @returns the chunk to stream now; empty if there is none.
  /// @errors throws `data_loss` for data that is not JSON or violates the
  ///         protocol; `resource_exhausted` for too many tool calls, or one
  ///         that is too long; `unavailable` with the server's text for an
  ///         error that the server reports.
  std::optional<ai::model_response_chunk> take(std::string_view event);

  /// Takes an answer that arrives as one document, from a server that does not
  /// stream; otherwise as `take`.
  std::optional<ai::model_response_chunk> take_document(std::string_view text);

  /// Returns whether the server has ended the stream.
  [[nodiscard]] bool ended() const noexcept {
    return ended_;
  }

  /// Returns the tool requests, to be streamed now that they are complete;
  /// empty if there are none. Incomplete requests of an answer that was too
  /// long are omitted.
  /// @errors throws `data_loss` for arguments that are not JSON.
  std::optional<ai::model_response_chunk> take_requests();

  /// Returns the answer.
  /// @errors throws `unavailable` if the stream was cut off.
  ai::model_response finish();

private:
  struct call {
    std::string id;
    std::string name;
    std::string arguments;
  };

  std::optional<ai::model_response_chunk> take(const json& document,
                                               const char* member);

  /// Returns the index of the call that a piece belongs to.
  /// @param is_next whether the piece follows another one in its event.
  [[nodiscard]] std::int64_t index_of(const json& piece, const std::string& id,
                                      bool is_next) const;

  void take_call(const json& from, bool is_next);
  void take_usage(const json& from);

  std::string text_;
  std::string reasoning_;
  std::map<std::int64_t, call> calls_; // by their index
  std::vector<ai::part> requests_;
  std::optional<ai::finish_reason> reason_;
  std::optional<ai::generation_usage> usage_;
  std::string refusal_;
  bool ended_ = false;
};

} // namespace tertulia::openai
