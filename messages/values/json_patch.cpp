// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json_patch.hpp>
#include <tertulia/status_error.hpp>

#include <string>
#include <utility>

#include <fmt/format.h>

namespace tertulia {

json make_json_patch(const json& from, const json& to) {
  return json::diff(from, to);
}

json make_whole_json_patch(json to) {
  json replace;
  replace["op"] = "replace";
  replace["path"] = "";
  replace["value"] = std::move(to);
  auto result = json::array();
  result.push_back(std::move(replace));
  return result;
}

namespace {

/// Checks what nlohmann's library takes for granted or ignores: that a value is
/// added to, or removed from, an object or an array.
void check_parent(const json& document, const json& operation,
                  const char* member) {
  const json::json_pointer path{
    operation.at(member).get_ref<const std::string&>()};
  if (!path.empty() && !document.at(path.parent_pointer()).is_structured())
    throw status_error{
      errc::invalid_argument,
      fmt::format(
        "the JSON patch does not fit: {} is neither an object nor an array",
        path.parent_pointer().to_string())};
}

void apply_operation(json& to, const json& operation) {
  const auto& verb = operation.at("op").get_ref<const std::string&>();
  if (verb != "test" && verb != "replace")
    check_parent(to, operation, "path");
  if (verb == "move")
    check_parent(to, operation, "from");
  to = to.patch(json::array({operation}));
}

} // namespace

void apply_json_patch(json& to, const json& patch) {
  try {
    if (!patch.is_array())
      throw status_error{errc::invalid_argument,
                         "a JSON patch is an array of operations"};
    auto result = to;
    for (const auto& operation : patch)
      apply_operation(result, operation);
    to = std::move(result);
  } catch (const json::exception& x) {
    throw status_error{errc::invalid_argument,
                       fmt::format("the JSON patch does not fit: {}",
                                   x.what())};
  }
}

} // namespace tertulia
