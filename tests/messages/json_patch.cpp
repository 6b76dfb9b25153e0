// SPDX-License-Identifier: BSD-3-Clause

// JSON Patch: the cases of RFC 6902, appendix A, and its rules one by one.

#include <tertulia/json_patch.hpp>

#include <string>
#include <vector>

#include "support/gen_messages.hpp"
#include "support/refusal.hpp"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tertulia::test::json_patch_tests {

namespace {

/// Document, patch and result; the result is `error` for a patch that fails.
struct patch_case {
  const char* name;
  const char* before;
  const char* patch;
  const char* after;
};

constexpr auto error = "error";

// The sections of RFC 6902, appendix A, in order.
const std::vector<patch_case> published{
  {"A.1 adding a member", R"({"foo":"bar"})",
   R"([{"op":"add","path":"/baz","value":"qux"}])",
   R"({"baz":"qux","foo":"bar"})"},
  {"A.2 adding an element", R"({"foo":["bar","baz"]})",
   R"([{"op":"add","path":"/foo/1","value":"qux"}])",
   R"({"foo":["bar","qux","baz"]})"},
  {"A.3 removing a member", R"({"baz":"qux","foo":"bar"})",
   R"([{"op":"remove","path":"/baz"}])", R"({"foo":"bar"})"},
  {"A.4 removing an element", R"({"foo":["bar","qux","baz"]})",
   R"([{"op":"remove","path":"/foo/1"}])", R"({"foo":["bar","baz"]})"},
  {"A.5 replacing a value", R"({"baz":"qux","foo":"bar"})",
   R"([{"op":"replace","path":"/baz","value":"boo"}])",
   R"({"baz":"boo","foo":"bar"})"},
  {"A.6 moving a value",
   R"({"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}})",
   R"([{"op":"move","from":"/foo/waldo","path":"/qux/thud"}])",
   R"({"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}})"},
  {"A.7 moving an element", R"({"foo":["all","grass","cows","eat"]})",
   R"([{"op":"move","from":"/foo/1","path":"/foo/3"}])",
   R"({"foo":["all","cows","eat","grass"]})"},
  {"A.8 testing with success", R"({"baz":"qux","foo":["a",2,"c"]})",
   R"([{"op":"test","path":"/baz","value":"qux"},
       {"op":"test","path":"/foo/1","value":2}])",
   R"({"baz":"qux","foo":["a",2,"c"]})"},
  {"A.9 testing with an error", R"({"baz":"qux"})",
   R"([{"op":"test","path":"/baz","value":"bar"}])", error},
  {"A.10 adding a nested object", R"({"foo":"bar"})",
   R"([{"op":"add","path":"/child","value":{"grandchild":{}}}])",
   R"({"foo":"bar","child":{"grandchild":{}}})"},
  {"A.11 ignoring unknown members", R"({"foo":"bar"})",
   R"([{"op":"add","path":"/baz","value":"qux","xyz":123}])",
   R"({"foo":"bar","baz":"qux"})"},
  {"A.12 adding to a missing target", R"({"foo":"bar"})",
   R"([{"op":"add","path":"/baz/bat","value":"qux"}])", error},
  {"A.14 escapes", R"({"/":9,"~1":10})",
   R"([{"op":"test","path":"/~01","value":10}])", R"({"/":9,"~1":10})"},
  {"A.15 comparing a text and a number", R"({"/":9,"~1":10})",
   R"([{"op":"test","path":"/~01","value":"10"}])", error},
  {"A.16 adding an array", R"({"foo":["bar"]})",
   R"([{"op":"add","path":"/foo/-","value":["abc","def"]}])",
   R"({"foo":["bar",["abc","def"]]})"},
};

const std::vector<patch_case> rules{
  {"no operation", R"({"a":1})", "[]", R"({"a":1})"},
  {"the whole document", R"({"a":1})",
   R"([{"op":"replace","path":"","value":[2]}])", "[2]"},
  {"a copy", R"({"a":[1]})", R"([{"op":"copy","from":"/a","path":"/b"}])",
   R"({"a":[1],"b":[1]})"},
  {"an empty key", R"({"":1})", R"([{"op":"replace","path":"/","value":2}])",
   R"({"":2})"},
  {"an index behind the end", "[1]", R"([{"op":"add","path":"/2","value":2}])",
   error},
  {"an index with a sign", "[1]",
   R"([{"op":"replace","path":"/-1","value":2}])", error},
  {"an index with a leading zero", "[1,2]",
   R"([{"op":"replace","path":"/01","value":2}])", error},
  {"removing what is not there", R"({"a":1})",
   R"([{"op":"remove","path":"/b"}])", error},
  {"replacing what is not there", R"({"a":1})",
   R"([{"op":"replace","path":"/b","value":1}])", error},
  {"moving what is not there", R"({"a":1})",
   R"([{"op":"move","from":"/b","path":"/c"}])", error},
  {"an unknown operation", R"({"a":1})", R"([{"op":"spam","path":"/a"}])",
   error},
  {"an operation without a path", R"({"a":1})", R"([{"op":"remove"}])", error},
  {"an operation without a value", R"({"a":1})",
   R"([{"op":"add","path":"/b"}])", error},
  {"a pointer without a slash", R"({"a":1})", R"([{"op":"remove","path":"a"}])",
   error},
  {"adding to a text", R"({"a":"text"})",
   R"([{"op":"add","path":"/a/b","value":1}])", error},
  {"adding to null", R"({"a":null})",
   R"([{"op":"add","path":"/a/b","value":1}])", error},
  {"removing from a number", R"({"a":1})", R"([{"op":"remove","path":"/a/b"}])",
   error},
  {"copying into a text", R"({"a":"text","c":1})",
   R"([{"op":"copy","from":"/c","path":"/a/b"}])", error},
  {"moving the whole document", R"({"a":1})",
   R"([{"op":"move","from":"","path":"/a"}])", error},
  {"removing the whole document", R"({"a":1})",
   R"([{"op":"remove","path":""}])", error},
  {"an operation that is not an object", R"({"a":1})", R"(["remove"])", error},
  {"a patch that is not an array", R"({"a":1})",
   R"({"op":"remove","path":"/a"})", error},
};

void check(const std::vector<patch_case>& cases) {
  for (const auto& x : cases) {
    const auto before = parse_json<json>(x.before);
    const auto patch = parse_json<json>(x.patch);
    auto document = before;
    if (std::string{x.after} == error) {
      EXPECT_EQ(error_of([&] { apply_json_patch(document, patch); }).code(),
                errc::invalid_argument)
        << x.name;
      EXPECT_EQ(document, before) << x.name << " leaves the document as it was";
    } else {
      EXPECT_NO_THROW(apply_json_patch(document, patch)) << x.name;
      EXPECT_EQ(document, parse_json<json>(x.after)) << x.name;
    }
  }
}

} // namespace

TEST(json_patch, applies_the_published_cases) {
  check(published);
}

TEST(json_patch, follows_the_rules) {
  check(rules);
}

TEST(json_patch, a_later_error_undoes_earlier_operations) {
  auto document = parse_json<json>(R"({"a":1})");
  const auto patch = parse_json<json>(
    R"([{"op":"replace","path":"/a","value":2},{"op":"remove","path":"/b"}])");
  EXPECT_EQ(error_of([&] { apply_json_patch(document, patch); }).code(),
            errc::invalid_argument);
  EXPECT_EQ(document, parse_json<json>(R"({"a":1})"));
}

RC_GTEST_PROP(json_patch, a_patch_leads_from_one_document_to_the_other, ()) {
  const auto from = *any_json();
  const auto to = *any_json();
  auto document = from;
  apply_json_patch(document, make_json_patch(from, to));
  RC_ASSERT(document == to);
  document = from;
  apply_json_patch(document, make_whole_json_patch(to));
  RC_ASSERT(document == to);
}

} // namespace tertulia::test::json_patch_tests
