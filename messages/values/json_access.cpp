// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/json_access.hpp>
#include <tertulia/json.hpp>

namespace tertulia::detail {

json_kind kind_of(const json& x) noexcept {
  switch (x.type()) {
    case json::value_t::null: return json_kind::null;
    case json::value_t::boolean: return json_kind::boolean;
    case json::value_t::number_integer:
    case json::value_t::number_unsigned: return json_kind::integer;
    case json::value_t::number_float: return json_kind::floating;
    case json::value_t::string: return json_kind::string;
    case json::value_t::array: return json_kind::array;
    case json::value_t::object: return json_kind::object;
    default: return json_kind::other;
  }
}

std::size_t size_of(const json& x) noexcept {
  return x.size();
}

const json& element_at(const json& x, std::size_t index) {
  return x[index];
}

const json* find_member(const json& x, std::string_view name) {
  const auto& members = x.get_ref<const json::object_t&>();
  const auto i = members.find(name);
  return i != members.end() ? &i->second : nullptr;
}

void visit_members(const json& x, void* context, member_visitor* visit) {
  for (const auto& [name, value] : x.get_ref<const json::object_t&>())
    visit(context, name, value);
}

} // namespace tertulia::detail
