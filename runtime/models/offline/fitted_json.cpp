// SPDX-License-Identifier: BSD-3-Clause

#include "fitted_json.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "words.hpp"

namespace tertulia::offline {

namespace {

constexpr int max_depth = 16; // a schema may contain itself

constexpr std::string_view blanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t\r\n,;:=\"'");
  if (from == std::string_view::npos)
    return {};
  const auto to = text.find_last_not_of(" \t\r\n,;:=.!?\"'");
  return to == std::string_view::npos || to < from
           ? std::string_view{}
           : text.substr(from, to - from + 1);
}

/// Removes leading words that carry no value, such as `for` and `the`.
std::string_view without_lead(std::string_view text) {
  constexpr std::array lead{"for", "with",  "in", "on",  "of", "to",
                            "at",  "about", "is", "the", "a",  "an"};
  for (;;) {
    text = trimmed(text);
    const auto end = std::min(text.find_first_of(blanks), text.size());
    const auto first = lowered(text.substr(0, end));
    if (end == text.size()
        || std::find(lead.begin(), lead.end(), first) == lead.end())
      return text;
    text.remove_prefix(end);
  }
}

std::optional<double> number_in(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto is_digit
      = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    if (!is_digit || (i > 0 && is_letter(text, i - 1)))
      continue;
    const auto from = i > 0 && text[i - 1] == '-' ? i - 1 : i;
    double result = 0;
    const auto parsed
      = std::from_chars(text.data() + from, text.data() + text.size(), result);
    if (parsed.ec == std::errc{})
      return result;
  }
  return std::nullopt;
}

class fitter {
public:
  explicit fitter(const json& root) : root_(root) {}

  json fit(const json& schema, std::string_view text, int depth) {
    if (!schema.is_object() || depth > max_depth)
      return text.empty() ? json{} : json(std::string{without_lead(text)});
    if (const auto* other = referred(schema))
      return fit(*other, text, depth + 1);
    if (const auto found = schema.find("const"); found != schema.end())
      return *found;
    if (const auto found = schema.find("enum");
        found != schema.end() && found->is_array() && !found->empty())
      return one_of(*found, text);
    for (const auto* key : {"anyOf", "oneOf", "allOf"})
      if (const auto found = schema.find(key);
          found != schema.end() && found->is_array())
        for (const auto& x : *found)
          if (!x.is_object() || x.value("type", json{}) != "null")
            return fit(x, text, depth + 1);
    return by_type(schema, text, depth);
  }

private:
  /// Returns the schema that a `$ref` inside the same document refers to; null
  /// if there is none.
  [[nodiscard]] const json* referred(const json& schema) const {
    const auto found = schema.find("$ref");
    if (found == schema.end() || !found->is_string())
      return nullptr;
    const auto& ref = found->get_ref<const std::string&>();
    if (!ref.starts_with('#'))
      return nullptr;
    try {
      const json::json_pointer where{ref.substr(1)};
      return root_.contains(where) ? &root_.at(where) : nullptr;
    } catch (const json::exception&) {
      return nullptr; // not a valid pointer
    }
  }

  static json one_of(const json& values, std::string_view text) {
    const auto lower = lowered(text);
    for (const auto& x : values)
      if (x.is_string()
          && find_word(lower, lowered(x.get_ref<const std::string&>()))
               != std::string_view::npos)
        return x;
    return values.front();
  }

  static std::string type_of(const json& schema) {
    const auto found = schema.find("type");
    if (found != schema.end() && found->is_string())
      return found->get<std::string>();
    if (found != schema.end() && found->is_array())
      for (const auto& x : *found)
        if (x.is_string() && x != "null")
          return x.get<std::string>();
    return schema.contains("properties") ? "object" : "string";
  }

  json by_type(const json& schema, std::string_view text, int depth) {
    const auto type = type_of(schema);
    if (type == "object")
      return object(schema, text, depth);
    if (type == "array")
      return list(schema, text, depth);
    if (type == "integer")
      return static_cast<std::int64_t>(number(schema, text));
    if (type == "number")
      return number(schema, text);
    if (type == "boolean")
      return !denied(lowered(text));
    if (type == "null")
      return nullptr;
    return std::string{without_lead(text)};
  }

  static bool denied(const std::string& text) {
    constexpr std::array words{"no", "not", "off", "false", "never", "without"};
    return std::any_of(words.begin(), words.end(), [&](const char* x) {
      return find_word(text, x) != std::string_view::npos;
    });
  }

  static double number(const json& schema, std::string_view text) {
    // Any number within this limit can also be an integer of a schema.
    constexpr double limit = 9e15;
    auto result = number_in(text).value_or(0);
    if (const auto low = schema.find("minimum");
        low != schema.end() && low->is_number())
      result = std::max(result, low->get<double>());
    if (const auto high = schema.find("maximum");
        high != schema.end() && high->is_number())
      result = std::min(result, high->get<double>());
    return std::clamp(result, -limit, limit);
  }

  json list(const json& schema, std::string_view text, int depth) {
    auto result = json::array();
    const auto items = schema.value("items", json{});
    text = without_lead(text);
    while (!text.empty()) {
      auto end = std::min(text.find(','), text.size());
      auto next = end + 1;
      if (const auto position = text.find(" and "); position < end) {
        end = position;
        next = position + 5;
      }
      if (const auto item = trimmed(text.substr(0, end)); !item.empty())
        result.push_back(fit(items, item, depth + 1));
      text.remove_prefix(std::min(next, text.size()));
    }
    return result;
  }

  // -- objects ----------------------------------------------------------------

  /// Members that the text names, with the words for each.
  using named = std::vector<std::pair<std::string, std::string_view>>;

  /// @param text   is shortened to the part before the first name.
  static named find_named(const json& properties, std::string_view& text) {
    const auto lower = lowered(text);
    std::vector<std::pair<std::size_t, std::string>> places;
    for (const auto& [name, schema] : properties.items())
      if (const auto position = find_word(lower, lowered(name));
          position != std::string_view::npos)
        places.emplace_back(position, name);
    std::sort(places.begin(), places.end());
    named result;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto from = places[i].first + places[i].second.size();
      const auto to = i + 1 < places.size() ? places[i + 1].first : text.size();
      if (from > to)
        continue;
      auto words = text.substr(from, to - from);
      // "3 nights" means the same as "nights: 3".
      const auto& member = properties.at(places[i].second);
      const auto type = member.is_object() ? type_of(member) : "string";
      if ((type == "integer" || type == "number") && !number_in(words)) {
        const auto last
          = i == 0 ? 0 : places[i - 1].first + places[i - 1].second.size();
        if (last <= places[i].first)
          words = text.substr(last, places[i].first - last);
      }
      result.emplace_back(places[i].second, words);
    }
    if (!places.empty())
      text = text.substr(0, places.front().first);
    return result;
  }

  json object(const json& schema, std::string_view text, int depth) {
    auto result = json::object();
    const auto properties = schema.value("properties", json::object());
    if (!properties.is_object())
      return result;
    for (const auto& [name, words] : find_named(properties, text))
      result[name] = fit(properties.at(name), words, depth + 1);
    const auto required = schema.value("required", json::array());
    const auto is_required = [&](const std::string& name) {
      return std::find(required.begin(), required.end(), json(name))
             != required.end();
    };
    bool text_is_used = !result.empty() && without_lead(text).empty();
    for (const auto& [name, inner] : properties.items()) {
      if (result.contains(name)
          || (!is_required(name) && !(required.empty() && !text_is_used)))
        continue;
      const auto type = inner.is_object() ? type_of(inner) : "string";
      const auto takes_text = type == "string" || type == "array";
      const auto words = takes_text && text_is_used ? std::string_view{} : text;
      if (!is_required(name) && without_lead(words).empty())
        continue;
      result[name] = fit(inner, words, depth + 1);
      text_is_used = text_is_used || takes_text;
    }
    return result;
  }

  const json& root_;
};

} // namespace

json fitted_json(const json& schema, std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('{') || text.starts_with('[')) {
    // JSON that is nested too deeply or contains a zero byte is rejected
    // instead of being read as words.
    detail::check_nesting(text);
    if (auto document = detail::document_or_null(text); !document.is_null())
      return document;
  }
  return fitter{schema}.fit(schema, text, 0);
}

} // namespace tertulia::offline
