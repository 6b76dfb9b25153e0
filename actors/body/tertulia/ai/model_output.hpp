// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/model.hpp>
#include <tertulia/detail/access.hpp>
#include <tertulia/detail/streamed_answer.hpp>
#include <tertulia/output.hpp>

#include <string>
#include <utility>

namespace tertulia::ai {

/// Output stream of the body of a model, for the pieces of its answer.
///
/// @threads  only on the actor of its body.
/// @lifetime a light handle; valid while the body runs.
/// @design   docs/models.md#models.
class model_output {
public:
  /// Sends a piece of the answer; waits while the caller lags by a whole
  /// window.
  /// @errors `cancelled` or another error that ends the caller.
  [[nodiscard]] auto send(model_response_chunk chunk) const {
    streamed_->add(chunk);
    return out_.send(std::move(chunk));
  }

  /// Sends a text piece; otherwise as `send`.
  [[nodiscard]] auto send_text(std::string text) const {
    model_response_chunk chunk;
    chunk.content.push_back(part::text(std::move(text)));
    return send(std::move(chunk));
  }

  /// Sends the gathered chunks now. Never waits.
  void flush() const {
    out_.flush();
  }

private:
  friend detail::access;

  /// @param streamed records each piece; outlives this.
  model_output(output<model_response_chunk> out,
               detail::streamed_answer& streamed) noexcept
    : out_(out), streamed_(&streamed) {}

  output<model_response_chunk> out_;
  detail::streamed_answer* streamed_;
};

} // namespace tertulia::ai
