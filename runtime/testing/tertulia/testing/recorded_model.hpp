// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/generate_request.hpp>
#include <tertulia/ai/model.hpp>
#include <tertulia/ai/model_handle.hpp>
#include <tertulia/ai/prompt.hpp>
#include <tertulia/context.hpp>

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

namespace tertulia::testing {

/// Answer of a model as a file keeps it: one line of JSON.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON asserts
struct recorded_answer {
  ai::generate_request request;
  /// Pieces of the answer as they were streamed.
  std::vector<ai::model_response_chunk> chunks;
  ai::model_response response;
};

BOOST_DESCRIBE_STRUCT(recorded_answer, (), (request, chunks, response))

/// Model that answers from a file, where `recording_model` has put the answers
/// of another model: a test of an agent with answers of a real model, without
/// that model.
///
/// Requests must come in the order of the file and be those of the file; times
/// are not compared. Copies share the position.
///
/// @threads one at a time.
/// @design  docs/testing.md#models.
class recorded_model {
public:
  /// @errors throws `not_found` for a file that cannot be read; `data_loss`
  ///         with the line for one that is not a recording.
  explicit recorded_model(const std::filesystem::path& file);

  /// @errors `out_of_range` if the file has no further answer;
  ///         `failed_precondition` for a request that differs from that of the
  ///         file, with the differences as a JSON Patch in the details.
  [[nodiscard]] task<ai::model_response>
  generate(const context& ctx, ai::generate_request request,
           ai::chunk_callback hear) const;

  [[nodiscard]] task<ai::model_response>
  generate(const context& ctx, ai::generate_request request) const;

  /// Returns whether every answer was given.
  [[nodiscard]] bool is_over() const noexcept;

private:
  struct recording;

  std::shared_ptr<recording> recording_;
};

/// Appends an answer to a file.
/// @errors throws `unavailable` if the file cannot be written.
void append_recording(const std::filesystem::path& file,
                      const recorded_answer& x);

/// Model that answers as another one, and appends each answer to a file for a
/// `recorded_model`. The file has the conversation in plain text.
///
/// @threads one at a time.
template <ai::model_like Model>
class recording_model {
public:
  recording_model(Model model, std::filesystem::path file)
    : model_(std::move(model)), file_(std::move(file)) {}

  /// @errors those of the model, which are not recorded; `unavailable` if the
  ///         file cannot be written.
  [[nodiscard]] task<ai::model_response>
  generate(const context& ctx, ai::generate_request request,
           ai::chunk_callback hear) const {
    return record(ctx, model_, file_, std::move(request), std::move(hear));
  }

  [[nodiscard]] task<ai::model_response>
  generate(const context& ctx, ai::generate_request request) const {
    return record(ctx, model_, file_, std::move(request), nullptr);
  }

private:
  static task<> nothing_to_do() {
    co_return;
  }

  static task<ai::model_response>
  record(context ctx, Model model, std::filesystem::path file,
         ai::generate_request request, ai::chunk_callback hear) {
    recorded_answer made;
    made.request = request;
    ai::chunk_callback keep = [&](ai::model_response_chunk x) {
      made.chunks.push_back(x);
      return hear ? hear(std::move(x)) : nothing_to_do();
    };
    auto answering = model.generate(ctx, std::move(request), std::move(keep));
    made.response = co_await std::move(answering);
    append_recording(file, made);
    co_return std::move(made.response);
  }

  Model model_;
  std::filesystem::path file_;
};

} // namespace tertulia::testing
