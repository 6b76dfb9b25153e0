// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/model.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tertulia::openai {

/// Puts an answer together from the events of a stream.
///
/// @threads none of its own.
class response_assembly {
public:
  /// Takes the data of one event.
  /// @returns what is to be streamed now; empty if nothing is.
  /// @errors throws `data_loss` for what is no JSON or not of the protocol;
  ///         `resource_exhausted` for more tool calls, or a longer one, than
  ///         anybody needs; for an error that the server tells, `unavailable`
  ///         with its words.
  std::optional<ai::model_response_chunk> take(std::string_view event);

  /// Takes an answer that came as one document, as a server sends it that does
  /// not stream; otherwise as `take`.
  std::optional<ai::model_response_chunk> take_document(std::string_view text);

  /// Whether the server has said that nothing follows.
  [[nodiscard]] bool ended() const noexcept {
    return ended_;
  }

  /// Returns the tool requests, to be streamed now that they are complete;
  /// empty if there are none. Of an answer that was too long, those that are
  /// not complete are left out.
  /// @errors throws `data_loss` for arguments that are no JSON.
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

  /// Returns which call a piece belongs to.
  /// @param is_next whether it begins one if it does not say which.
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
