// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/text.hpp>
#include <tertulia/schema_check.hpp>

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "schema_types.hpp"
#include <fmt/format.h>

namespace tertulia {

namespace {

/// Position and reason of a value that does not conform to a schema.
struct mismatch {
  std::size_t depth;
  std::string path;
  std::string expected;
  std::string found;
};

using verdict = std::optional<mismatch>;

/// Maximum nesting of schemas, references included.
constexpr std::size_t max_nesting = 2'000;

/// Returns a value for an error message.
std::string shown(const json& x) {
  if (x.is_string())
    return detail::in_quotes(x.get_ref<const std::string&>());
  if (x.is_structured())
    return detail::in_words(x);
  return x.dump();
}

verdict differs(const json_path& path, std::string expected,
                std::string found) {
  return mismatch{path.depth(), path.to_string(), std::move(expected),
                  std::move(found)};
}

verdict differs(const json_path& path, std::string expected,
                const json& found) {
  return differs(path, std::move(expected), detail::in_words(found));
}

/// Keywords that restrict values and are not supported. Ignoring one would
/// accept values that the author of the schema wanted to refuse.
constexpr std::array unsupported{"pattern",
                                 "patternProperties",
                                 "dependentRequired",
                                 "dependentSchemas",
                                 "if",
                                 "contains",
                                 "multipleOf",
                                 "unevaluatedProperties",
                                 "unevaluatedItems",
                                 "$dynamicRef"};

/// Returns the number of values in `x`, without those beyond the maximum depth
/// of a check.
std::size_t count_values(const json& x, std::size_t depth = 0) {
  std::size_t result = 1;
  if (x.is_structured() && depth < max_json_depth)
    for (const auto& one : x)
      result += count_values(one, depth + 1);
  return result;
}

/// Returns the maximum number of steps in a check of `x`. Walks all of `x`, so
/// it is called only after many steps.
std::size_t steps_for(const json& x) {
  return std::max(max_schema_steps, 16 * count_values(x));
}

/// One check of a value against a schema and the schemas that it refers to.
class checker {
public:
  checker(const json& value, const json& document)
    : value_(value), document_(document) {}

  verdict check() {
    return check(value_, document_, json_path{});
  }

  verdict check(const json& x, const json& schema, const json_path& path) {
    if (path.depth() > max_json_depth)
      return differs(path, fmt::format("at most {} levels", max_json_depth),
                     std::string{"more"});
    if (++steps_ > limit_ && steps_ > (limit_ = steps_for(value_)))
      throw status_error{errc::resource_exhausted,
                         "the schema has too many alternatives to try"};
    if (schema.is_boolean())
      return schema.get<bool>() ? verdict{} : differs(path, "nothing", x);
    if (!schema.is_object())
      detail::bad_schema("has {} in place of a schema",
                         detail::in_words(schema));
    if (known_.insert(&schema).second)
      for (const auto* keyword : unsupported)
        if (schema.contains(keyword))
          throw status_error{
            errc::unimplemented,
            fmt::format("the schema has {}, which is not checked", keyword)};
    using step
      = verdict (checker::*)(const json&, const json&, const json_path&);
    constexpr std::array<step, 8> steps{&checker::refer,   &checker::type,
                                        &checker::values,  &checker::number,
                                        &checker::text,    &checker::list,
                                        &checker::members, &checker::combine};
    if (++nesting_ > max_nesting)
      detail::bad_schema("is nested too deeply");
    verdict result;
    for (auto one = steps.begin(); one != steps.end() && !result; ++one)
      result = (this->**one)(x, schema, path);
    --nesting_;
    return result;
  }

private:
  /// Returns the value of a keyword, null if the schema does not have it.
  static const json* find(const json& schema, const char* keyword) {
    const auto i = schema.find(keyword);
    return i == schema.end() ? nullptr : &*i;
  }

  static const json& list_of(const json& x, const char* keyword) {
    if (!x.is_array())
      detail::bad_schema("has a {} that is not an array", keyword);
    return x;
  }

  static const json& map_of(const json& x, const char* keyword) {
    if (!x.is_object())
      detail::bad_schema("has {} that are not an object", keyword);
    return x;
  }

  static std::optional<std::size_t> count(const json& schema,
                                          const char* keyword) {
    const auto* x = find(schema, keyword);
    if (x == nullptr)
      return std::nullopt;
    if (!detail::is_integer(*x) || x->get<double>() < 0)
      detail::bad_schema("has a {} that is not a count", keyword);
    return x->get<std::size_t>();
  }

  static verdict within(std::size_t size, const json& schema, const char* least,
                        const char* most, const char* unit,
                        const json_path& path) {
    const auto of = [&](const char* bound, std::size_t number) {
      return fmt::format("{}{}{}", bound, number, unit);
    };
    if (const auto limit = count(schema, least); limit && size < *limit)
      return differs(path, of("at least ", *limit), of("", size));
    if (const auto limit = count(schema, most); limit && size > *limit)
      return differs(path, of("at most ", *limit), of("", size));
    return {};
  }

  // -- keywords ---------------------------------------------------------------

  verdict refer(const json& x, const json& schema, const json_path& path) {
    const auto* to = find(schema, "$ref");
    if (to == nullptr)
      return {};
    if (!to->is_string() || !to->get_ref<const std::string&>().starts_with('#'))
      detail::bad_schema("refers to another document");
    const auto& text = to->get_ref<const std::string&>();
    const json* target = nullptr;
    try {
      target = &document_.at(json::json_pointer{text.substr(1)});
    } catch (const json::exception&) {
      detail::bad_schema("refers to nothing: {}", shown(*to));
    }
    // References that stay at one value are bounded by the size of the
    // document, or else they form a cycle.
    const auto open = std::pair{target, &x};
    if (!open_.insert(open).second)
      detail::bad_schema("refers to itself without end: {}", shown(*to));
    auto result = check(x, *target, path);
    open_.erase(open);
    return result;
  }

  verdict type(const json& x, const json& schema, const json_path& path) {
    const auto* wanted = find(schema, "type");
    if (wanted == nullptr)
      return {};
    if (wanted->is_string()) {
      const auto& name = wanted->get_ref<const std::string&>();
      if (detail::is_of_type(x, name))
        return {};
      return differs(path, detail::with_article(name), x);
    }
    std::string names;
    for (const auto& name : list_of(*wanted, "type")) {
      if (!name.is_string())
        detail::bad_schema("names a type that is not a string");
      if (detail::is_of_type(x, name.get_ref<const std::string&>()))
        return {};
      names += fmt::format(
        "{}{}", names.empty() ? "" : " or ",
        detail::with_article(name.get_ref<const std::string&>()));
    }
    return differs(path, std::move(names), x);
  }

  verdict values(const json& x, const json& schema, const json_path& path) {
    if (const auto* only = find(schema, "const"); only && !(*only == x))
      return differs(path, shown(*only), shown(x));
    const auto* allowed = find(schema, "enum");
    if (allowed == nullptr)
      return {};
    std::string names;
    for (const auto& one : list_of(*allowed, "enum")) {
      if (one == x)
        return {};
      names += fmt::format("{}{}", names.empty() ? "" : ", ", shown(one));
    }
    return differs(path, fmt::format("one of {}", names), shown(x));
  }

  verdict number(const json& x, const json& schema, const json_path& path) {
    if (!x.is_number())
      return {};
    const auto limit
      = [&](const char* keyword, const char* words, auto holds) -> verdict {
      const auto* bound = find(schema, keyword);
      if (bound == nullptr)
        return {};
      if (!bound->is_number())
        detail::bad_schema("has a {} that is not a number", keyword);
      if (holds(detail::compare_numbers(x, *bound)))
        return {};
      return differs(path, fmt::format("{} {}", words, shown(*bound)), x);
    };
    if (auto bad = limit("minimum", "at least", std::is_gteq))
      return bad;
    if (auto bad = limit("maximum", "at most", std::is_lteq))
      return bad;
    if (auto bad = limit("exclusiveMinimum", "more than", std::is_gt))
      return bad;
    return limit("exclusiveMaximum", "less than", std::is_lt);
  }

  verdict text(const json& x, const json& schema, const json_path& path) {
    if (!x.is_string())
      return {};
    return within(detail::count_characters(x.get_ref<const std::string&>()),
                  schema, "minLength", "maxLength", " characters", path);
  }

  verdict list(const json& x, const json& schema, const json_path& path) {
    if (!x.is_array())
      return {};
    if (auto bad
        = within(x.size(), schema, "minItems", "maxItems", " elements", path))
      return bad;
    std::size_t first = 0;
    if (const auto* heads = find(schema, "prefixItems"))
      for (const auto& head : list_of(*heads, "prefixItems")) {
        if (first == x.size())
          break;
        if (auto bad = check(x[first], head, json_path{path, first}))
          return bad;
        ++first;
      }
    if (const auto* rest = find(schema, "items"))
      for (auto i = first; i < x.size(); ++i)
        if (auto bad = check(x[i], *rest, json_path{path, i}))
          return bad;
    if (const auto* unique = find(schema, "uniqueItems");
        unique && *unique == json(true)) {
      std::set<std::reference_wrapper<const json>, std::less<json>> seen;
      for (std::size_t i = 0; i < x.size(); ++i)
        if (!seen.insert(x[i]).second)
          return differs(json_path{path, i}, "an element that is new",
                         std::string{"one that was there before"});
    }
    return {};
  }

  verdict members(const json& x, const json& schema, const json_path& path) {
    if (!x.is_object())
      return {};
    if (const auto* names = find(schema, "required"))
      for (const auto& name : list_of(*names, "required")) {
        if (!name.is_string())
          detail::bad_schema("requires a member without a name");
        const auto& key = name.get_ref<const std::string&>();
        if (!x.contains(key))
          return differs(json_path{path, key}, "a value",
                         std::string{"no such member"});
      }
    if (auto bad = within(x.size(), schema, "minProperties", "maxProperties",
                          " members", path))
      return bad;
    const auto* known = find(schema, "properties");
    if (known != nullptr)
      map_of(*known, "properties");
    const auto* others = find(schema, "additionalProperties");
    const auto* names = find(schema, "propertyNames");
    for (const auto& [key, value] : x.items()) {
      const json_path member{path, key};
      if (names != nullptr)
        if (auto bad = check(json(key), *names, member))
          return bad;
      const auto* its = known ? find(*known, key.c_str()) : nullptr;
      if (its == nullptr)
        its = others;
      if (its == others && others != nullptr && *others == json(false))
        return differs(member, "no such member", value);
      if (its != nullptr)
        if (auto bad = check(value, *its, member))
          return bad;
    }
    return {};
  }

  verdict combine(const json& x, const json& schema, const json_path& path) {
    if (const auto* all = find(schema, "allOf"))
      for (const auto& one : list_of(*all, "allOf"))
        if (auto bad = check(x, one, path))
          return bad;
    if (const auto* unwanted = find(schema, "not"))
      if (!check(x, *unwanted, path))
        return differs(path, "something else", x);
    if (const auto* any = find(schema, "anyOf"))
      if (auto bad = one_of(x, list_of(*any, "anyOf"), path, false))
        return bad;
    if (const auto* one = find(schema, "oneOf"))
      return one_of(x, list_of(*one, "oneOf"), path, true);
    return {};
  }

  verdict one_of(const json& x, const json& alternatives, const json_path& path,
                 bool alone) {
    verdict closest;
    std::size_t matched = 0;
    std::string wanted;
    for (const auto& one : alternatives) {
      auto bad = check(x, one, path);
      if (!bad) {
        if (++matched > 1 || !alone)
          break;
        continue;
      }
      if (bad->depth == path.depth())
        wanted
          += fmt::format("{}{}", wanted.empty() ? "" : " or ", bad->expected);
      // A mismatch further inside suggests that this alternative was meant.
      if (!closest || bad->depth > closest->depth)
        closest = std::move(bad);
    }
    if (matched == 1)
      return {};
    if (matched > 1)
      return differs(path, "exactly one of the alternatives",
                     std::string{"what several accept"});
    if (!closest)
      detail::bad_schema("has no alternatives");
    if (closest->depth == path.depth())
      closest->expected = std::move(wanted);
    return closest;
  }

  const json& value_;
  const json& document_;
  std::size_t steps_ = 0;
  std::size_t limit_ = max_schema_steps;
  std::size_t nesting_ = 0;
  std::set<const json*> known_; // schemas without unsupported keywords
  std::set<std::pair<const json*, const json*>> open_;
};

} // namespace

void check_schema(const json& x, const json& schema) {
  if (const auto bad = checker{x, schema}.check())
    throw detail::mismatch_error(bad->path, bad->expected, bad->found);
}

} // namespace tertulia
