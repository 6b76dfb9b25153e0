// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/artifact_list.hpp>
#include <tertulia/schema.hpp>

#include <functional>

namespace tertulia::ai {

namespace {

std::size_t hash_of(std::string_view name) noexcept {
  return std::hash<std::string_view>{}(name);
}

} // namespace

artifact_list::artifact_list(std::vector<artifact> xs) {
  if (xs.empty())
    return;
  auto next = std::make_shared<content>();
  for (std::size_t first = 0; first < xs.size(); first += block_size) {
    auto made = std::make_shared<block>();
    for (auto i = first; i < xs.size() && i < first + block_size; ++i) {
      made->names.push_back(hash_of(xs[i].name));
      made->artifacts.push_back(
        std::make_shared<const artifact>(std::move(xs[i])));
    }
    next->blocks.push_back(std::move(made));
  }
  next->size = xs.size();
  content_ = std::move(next);
}

std::vector<artifact> artifact_list::to_vector() const {
  std::vector<artifact> result;
  result.reserve(size());
  for (const auto& x : *this)
    result.push_back(x);
  return result;
}

artifact_list artifact_list::with(artifact x) const {
  const auto index = x.name.empty() ? size() : find(x.name);
  auto next = content_ ? std::make_shared<content>(*content_)
                       : std::make_shared<content>();
  const auto at = index / block_size;
  if (at == next->blocks.size())
    next->blocks.emplace_back(std::make_shared<block>());
  auto changed = std::make_shared<block>(*next->blocks[at]);
  const auto hash = hash_of(x.name);
  auto made = std::make_shared<const artifact>(std::move(x));
  if (index == size()) {
    changed->names.push_back(hash);
    changed->artifacts.push_back(std::move(made));
    ++next->size;
  } else {
    changed->artifacts[index % block_size] = std::move(made);
  }
  next->blocks[at] = std::move(changed);
  artifact_list result;
  result.content_ = std::move(next);
  return result;
}

std::size_t artifact_list::find(std::string_view name) const noexcept {
  if (!content_)
    return 0;
  const auto hash = hash_of(name);
  std::size_t first = 0;
  for (const auto& x : content_->blocks) {
    for (std::size_t i = 0; i < x->names.size(); ++i)
      if (x->names[i] == hash && x->artifacts[i]->name == name)
        return first + i;
    first += block_size;
  }
  return content_->size;
}

bool operator==(const artifact_list& x, const artifact_list& y) {
  if (x.same_as(y))
    return true;
  if (x.size() != y.size())
    return false;
  for (std::size_t i = 0; i < x.content_->blocks.size(); ++i) {
    const auto& a = x.content_->blocks[i];
    const auto& b = y.content_->blocks[i];
    if (a == b)
      continue;
    for (std::size_t j = 0; j < a->artifacts.size(); ++j)
      if (a->artifacts[j] != b->artifacts[j]
          && !(*a->artifacts[j] == *b->artifacts[j]))
        return false;
  }
  return true;
}

} // namespace tertulia::ai

namespace tertulia {

void json_codec<ai::artifact_list>::write(std::string& out,
                                          const ai::artifact_list& x,
                                          const json_path& at) {
  detail::write_array(out, x, at);
}

ai::artifact_list json_codec<ai::artifact_list>::read(const json& from,
                                                      const json_path& at) {
  return ai::artifact_list{
    detail::read_value<std::vector<ai::artifact>>(from, at)};
}

json json_codec<ai::artifact_list>::schema() {
  auto result = schema_of<std::vector<ai::artifact>>();
  result.erase("$schema"); // of a document: this one stands inside of one
  return result;
}

} // namespace tertulia
