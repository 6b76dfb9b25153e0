// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/artifact_list.hpp>
#include <tertulia/schema.hpp>

#include <algorithm>
#include <functional>

namespace tertulia::ai {

artifact_list::artifact_list(std::vector<artifact> xs) {
  if (xs.empty())
    return;
  auto made = std::make_shared<content>();
  for (auto& x : xs)
    made->add(std::move(x));
  content_ = std::move(made);
}

std::vector<artifact> artifact_list::to_vector() const {
  std::vector<artifact> result;
  result.reserve(size());
  for (const auto& x : *this)
    result.push_back(x);
  return result;
}

artifact_list artifact_list::with(artifact x) const {
  auto made = content_ ? std::make_shared<content>(*content_)
                       : std::make_shared<content>();
  const auto* index = x.name.empty() ? nullptr : made->find(x.name).index;
  if (index)
    made->by_index.set(*index, std::make_shared<const artifact>(std::move(x)));
  else
    made->add(std::move(x));
  artifact_list result;
  result.content_ = std::move(made);
  return result;
}

void artifact_list::content::add(artifact x) {
  if (!x.name.empty())
    if (const auto position = find(x.name); !position.index)
      by_name.set(position.key, size);
  by_index.set(size, std::make_shared<const artifact>(std::move(x)));
  ++size;
}

artifact_list::content::place
artifact_list::content::find(std::string_view name) const noexcept {
  // Entries are never removed, so names with one hash have consecutive keys.
  for (std::uint64_t key = std::hash<std::string_view>{}(name);; ++key) {
    const auto* index = by_name.find(key);
    if (!index || (*by_index.find(*index))->name == name)
      return {key, index};
  }
}

bool operator==(const artifact_list& x, const artifact_list& y) {
  if (x.same_as(y))
    return true;
  return x.size() == y.size()
         && std::equal(x.begin(), x.end(), y.begin(),
                       [](const artifact& a, const artifact& b) {
                         return &a == &b || a == b;
                       });
}

} // namespace tertulia::ai

namespace tertulia {

void json_codec<ai::artifact_list>::write(std::string& out,
                                          const ai::artifact_list& x,
                                          const json_path& path) {
  detail::write_array(out, x, path);
}

ai::artifact_list json_codec<ai::artifact_list>::read(const json& from,
                                                      const json_path& path) {
  return ai::artifact_list{
    detail::read_value<std::vector<ai::artifact>>(from, path)};
}

json json_codec<ai::artifact_list>::schema() {
  return detail::nested_schema_of<std::vector<ai::artifact>>();
}

} // namespace tertulia
