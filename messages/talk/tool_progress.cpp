// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/tool_progress.hpp>

#include <utility>

namespace tertulia::ai {

part progress_part(tool_progress x) {
  part result{data_part{std::move(x.value)}};
  json of;
  of["name"] = std::move(x.name);
  if (!x.ref.empty())
    of["ref"] = std::move(x.ref);
  result.metadata.emplace(progress_key, std::move(of));
  return result;
}

std::vector<tool_progress> progress_in(std::span<const part> parts) {
  std::vector<tool_progress> result;
  for (const auto& x : parts) {
    const auto* data = x.as_data();
    const auto of = x.metadata.find(progress_key);
    if (data == nullptr || of == x.metadata.end() || !of->second.is_object())
      continue;
    const auto text = [&](const char* key) {
      const auto i = of->second.find(key);
      return i != of->second.end() && i->is_string() ? i->get<std::string>()
                                                     : std::string{};
    };
    result.emplace_back(text("name"), text("ref"), data->data);
  }
  return result;
}

} // namespace tertulia::ai
