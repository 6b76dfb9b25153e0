// SPDX-License-Identifier: BSD-3-Clause

// The routes of a web server, and the tables of docs/server.md that list them.

#include <tertulia/genkit_protocol.hpp>

#include <cctype>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "docs/page_files.hpp"
#include "runtime/http/routes/router.hpp"
#include "support/web_fixture.hpp"
#include <gtest/gtest.h>

namespace tertulia::test::web_route_tests {

namespace {

/// Routes, such as `GET /runs/KEY`.
using route_names = std::set<std::string>;

constexpr std::string_view key = "/KEY";

/// Returns the routes in the table of requests of a section of docs/server.md.
/// A method without a path has that of the method before it.
/// @param link text that the row must have.
route_names documented_routes(const std::string& section,
                              const std::string& link = {}) {
  static const std::regex request{"`([A-Z]+)( (/[^`?]*)[^`]*)?`"};
  route_names result;
  auto is_section = false;
  auto is_table = false;
  for (const auto& line : docs::lines_of(docs::root / "docs" / "server.md")) {
    if (line.starts_with("## "))
      is_section = line == "## " + section;
    is_table
      = line.starts_with('|') && (is_table || line.starts_with("| Request |"));
    if (!is_section || !is_table || line.find(link) == std::string::npos)
      continue;
    const auto cell = line.substr(0, line.find(" |", 1));
    std::string path;
    for (std::sregex_iterator i{cell.begin(), cell.end(), request}, end;
         i != end; ++i) {
      if ((*i)[3].matched)
        path = (*i)[3].str();
      result.insert((*i)[1].str() + ' ' + path);
    }
  }
  return result;
}

/// Returns the names of routes.
route_names names_of(tertulia::web::route_table routes) {
  route_names result;
  for (const auto& x : routes) {
    auto name = std::string{boost::beast::http::to_string(x.method)} + ' ';
    name += x.path;
    if (x.has_rest)
      name += key;
    result.insert(std::move(name));
  }
  return result;
}

/// Returns the routes in an OpenAPI document.
route_names described_routes(const json& document) {
  static const std::regex of_action{R"(/\{kind\}/\{name\})"};
  route_names result;
  for (const auto& [path, methods] : document.at("paths").items())
    for (const auto& [method, operation] : methods.items()) {
      std::string name;
      for (const auto c : method)
        name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      result.insert(name + ' '
                    + std::regex_replace(path, of_action, std::string{key}));
    }
  return result;
}

} // namespace

TEST(web_routes, are_those_in_the_table_of_routes) {
  route_names documented;
  for (const auto& x : documented_routes("Routes")) {
    // The rest of a path may have more than the key of an action.
    const auto i = x.find(key);
    documented.insert(i == std::string::npos ? x : x.substr(0, i + key.size()));
  }
  auto existing = names_of(tertulia::web::http_routes());
  existing.merge(names_of(genkit_protocol().get().routes));
  EXPECT_EQ(documented, existing);
}

TEST(web_routes, of_sessions_have_a_second_table) {
  const auto linked = documented_routes("Routes", "(#sessions-and-snapshots)");
  EXPECT_EQ(documented_routes("Sessions and snapshots"), linked);
  EXPECT_GE(linked.size(), 8u);
}

TEST_F(web, describes_the_routes_in_the_table_of_routes) {
  auto at = serve();
  EXPECT_EQ(described_routes(at.call("GET", "/openapi.json").document()),
            documented_routes("Routes"));
}

TEST_F(web, speaks_its_own_protocol_only_unless_told_otherwise) {
  server.emplace(rt, http_server_options{.origins = {"https://example.org"}});
  auto at = client();
  EXPECT_EQ(at.call("POST", "/genkit/bidi-flow/counter", "{}").status, 404);
  const auto routes
    = described_routes(at.call("GET", "/openapi.json").document());
  EXPECT_TRUE(routes.contains("POST /runs/KEY"));
  EXPECT_FALSE(routes.contains("POST /genkit/KEY"));
  const auto preflight = at.call("OPTIONS", "/runs/bidi-flow/counter", "",
                                 "Origin: https://example.org\r\n");
  EXPECT_EQ(preflight.status, 204);
  const auto allowed = preflight.field("Access-Control-Allow-Headers");
  EXPECT_NE(allowed.find("traceparent"), std::string::npos);
  EXPECT_EQ(allowed.find("genkit"), std::string::npos);
  EXPECT_EQ(preflight.field("Access-Control-Expose-Headers"), "Retry-After");
}

} // namespace tertulia::test::web_route_tests
