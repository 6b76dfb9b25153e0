// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>

#include <algorithm>
#include <cmath>

#include <boost/core/demangle.hpp>
#include <fmt/format.h>

namespace tertulia {

std::string json_path::to_string() const {
  if (parent_ == nullptr)
    return "$";
  const auto parent = parent_->to_string();
  if (index_ != no_index)
    return fmt::format("{}[{}]", parent, index_);
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '_';
  };
  const auto key = detail::in_quotes(key_);
  if (!key_.empty() && std::all_of(key_.begin(), key_.end(), is_word))
    return fmt::format("{}.{}", parent, key.substr(1, key.size() - 2));
  return fmt::format("{}[{}]", parent, key);
}

void raise_mismatch(const json_path& path, std::string_view expected,
                    std::string_view found) {
  throw detail::mismatch_error(path.to_string(), expected, found);
}

namespace detail {

status_error mismatch_error(std::string_view path, std::string_view expected,
                            std::string_view found) {
  const json details = {{"expected", expected}, {"path", path}};
  return {errc::invalid_argument,
          fmt::format("{}: expected {}, found {}", path, expected, found),
          details.dump(-1, ' ', false, json::error_handler_t::replace)};
}

std::string in_words(const json& x) {
  switch (x.type()) {
    case json::value_t::null: return "null";
    case json::value_t::boolean: return "a boolean";
    case json::value_t::object: return "an object";
    case json::value_t::array: return "an array";
    case json::value_t::string: return "a string";
    case json::value_t::number_integer:
      return std::to_string(x.get_ref<const std::int64_t&>());
    case json::value_t::number_unsigned:
      return std::to_string(x.get_ref<const std::uint64_t&>());
    case json::value_t::number_float:
      return std::isfinite(x.get_ref<const double&>())
               ? to_json_text(x)
               : "a number that is not finite";
    default: return "a value that JSON does not have";
  }
}

void raise_too_deep(const json_path& path) {
  raise_mismatch(path,
                 fmt::format("at most {} levels of arrays and objects",
                             max_json_depth),
                 "more");
}

void raise_no_enumerator(const json_path& path, long long value) {
  raise_mismatch(path, "a described enumerator", std::to_string(value));
}

std::string type_name(std::type_index type) {
  return boost::core::demangle(type.name());
}

std::string short_type_name(std::type_index type) {
  const auto name = type_name(type);
  const auto end = std::min(name.find('<'), name.size());
  const auto colon = name.rfind(':', end);
  const auto begin = colon == std::string::npos ? 0 : colon + 1;
  return name.substr(begin, end - begin);
}

} // namespace detail

} // namespace tertulia
