// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/json_patch.hpp>
#include <tertulia/status.hpp>
#include <tertulia/testing/recorded_model.hpp>

#include <cstddef>
#include <fstream>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace tertulia::testing {

struct recorded_model::recording {
  std::string file;
  std::vector<recorded_answer> answers;
  std::size_t given = 0;

  /// Takes the next answer, which must be to this request.
  recorded_answer take(const ai::generate_request& request) {
    const auto name = fmt::format("{}:{}", file, given + 1);
    if (given >= answers.size())
      throw status_error{errc::out_of_range,
                         fmt::format("{}: the recording is over", name)};
    auto& next = answers[given];
    const auto expected = to_json(next.request);
    const auto found = to_json(request);
    if (expected != found)
      throw status_error{errc::failed_precondition,
                         fmt::format("{}: another request was recorded", name),
                         to_json_text(make_json_patch(expected, found))};
    ++given;
    return std::move(next);
  }
};

namespace {

task<ai::model_response> replay(recorded_answer from, ai::chunk_callback hear) {
  if (hear)
    for (auto& x : from.chunks) {
      auto hearing = hear(std::move(x));
      co_await std::move(hearing);
    }
  co_return std::move(from.response);
}

} // namespace

recorded_model::recorded_model(const std::filesystem::path& file)
  : recording_(std::make_shared<recording>()) {
  recording_->file = file.string();
  std::ifstream from{file};
  if (!from)
    throw status_error{errc::not_found,
                       fmt::format("cannot read {}", file.string())};
  std::string line;
  for (std::size_t number = 1; std::getline(from, line); ++number)
    try {
      recording_->answers.push_back(parse_json<recorded_answer>(line));
    } catch (const status_error& x) {
      throw status_error{errc::data_loss,
                         fmt::format("{}:{}: {}", file.string(), number,
                                     x.message())};
    }
}

task<ai::model_response>
recorded_model::generate(const context&, ai::generate_request request,
                         ai::chunk_callback hear) const {
  return replay(recording_->take(request), std::move(hear));
}

task<ai::model_response>
recorded_model::generate(const context& ctx,
                         ai::generate_request request) const {
  return generate(ctx, std::move(request), nullptr);
}

bool recorded_model::is_over() const noexcept {
  return recording_->given == recording_->answers.size();
}

void append_recording(const std::filesystem::path& file,
                      const recorded_answer& x) {
  std::ofstream to{file, std::ios::app};
  to << to_json_text(x) << '\n' << std::flush;
  if (!to)
    throw status_error{errc::unavailable,
                       fmt::format("cannot write {}", file.string())};
}

} // namespace tertulia::testing
