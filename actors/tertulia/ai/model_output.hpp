// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/model.hpp>
#include <tertulia/detail/streamed_answer.hpp>
#include <tertulia/output.hpp>

#include <string>
#include <utility>

namespace tertulia::ai {

/// What the body of a model streams while it makes its answer.
///
/// @threads  only on the actor of its body.
/// @lifetime a light handle; valid while the body runs.
/// @design   README §5.17 "Models".
class model_output {
public:
  /// Private to this library.
  /// @param streamed notes each piece; outlives this.
  model_output(output<model_response_chunk> out,
               detail::streamed_answer& streamed) noexcept
    : out_(out), streamed_(&streamed) {}

  /// Sends a piece of the answer; waits while the caller lags by a whole
  /// window.
  /// @errors `cancelled` and what else ends the caller.
  [[nodiscard]] auto send(model_response_chunk chunk) const {
    streamed_->add(chunk);
    return out_.send(std::move(chunk));
  }

  /// Sends a piece that is text; otherwise as `send`.
  [[nodiscard]] auto send_text(std::string text) const {
    model_response_chunk chunk;
    chunk.content.push_back(part::text(std::move(text)));
    return send(std::move(chunk));
  }

  /// Sends what has gathered now. Never waits.
  void flush() const {
    out_.flush();
  }

private:
  output<model_response_chunk> out_;
  detail::streamed_answer* streamed_;
};

} // namespace tertulia::ai
