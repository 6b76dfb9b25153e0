// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/streamed_answer.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace tertulia::detail {

namespace {

/// Removes a text from the front of the streamed text.
/// @returns the end of the text that was not streamed.
std::string_view take(std::string_view& streamed, std::string_view text) {
  const auto size = std::min(streamed.size(), text.size());
  if (streamed.substr(0, size) != text.substr(0, size))
    return {};
  streamed.remove_prefix(size);
  return text.substr(size);
}

} // namespace

void streamed_answer::add(const ai::model_response_chunk& x) {
  if (x.role != ai::role::model || x.aggregated)
    return;
  // If there are several messages, the last one is the answer.
  if (x.index != index_) {
    *this = {};
    index_ = x.index;
  }
  for (const auto& part : x.content)
    if (const auto* text = part.as_text())
      text_ += text->text;
    else if (const auto* thought = part.as_reasoning())
      reasoning_ += thought->reasoning;
    else
      ++others_[part.value.index()];
}

std::optional<ai::model_response_chunk>
streamed_answer::rest_of(const ai::message& answer) const {
  ai::model_response_chunk result;
  result.index = index_;
  std::string_view text = text_;
  std::string_view reasoning = reasoning_;
  auto others = others_;
  const auto add = [&](const ai::part& like, auto value) {
    result.content.push_back(ai::part{std::move(value), like.metadata});
  };
  for (const auto& x : answer.content)
    if (const auto* said = x.as_text()) {
      if (const auto rest = take(text, said->text); !rest.empty())
        add(x, ai::text_part{std::string{rest}, said->content_type});
    } else if (const auto* thought = x.as_reasoning()) {
      if (const auto rest = take(reasoning, thought->reasoning); !rest.empty())
        add(x, ai::reasoning_part{std::string{rest}});
    } else if (auto& streamed = others[x.value.index()]; streamed > 0) {
      --streamed;
    } else {
      result.content.push_back(x);
    }
  if (result.content.empty())
    return std::nullopt;
  return result;
}

} // namespace tertulia::detail
