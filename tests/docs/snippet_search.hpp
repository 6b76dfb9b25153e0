// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "docs/page_files.hpp"

namespace tertulia::test::docs {

using names = std::set<std::string>;

// A region of a file, or a file that tutorial.can_be_followed compiles.
inline const std::regex region_marker{"<!-- ([^ ]+): ([^ ]+) -->"};
inline const std::regex file_marker{"<!-- write ([^ ]+) -->"};

/// Returns the headers that a text includes.
inline names headers_in(const lines& text) {
  static const std::regex include{"#include [<\"]([^>\"]+)[>\"]"};
  names result;
  std::smatch found;
  for (const auto& line : text)
    if (std::regex_match(line, found, include))
      result.insert(found[1].str());
  return result;
}

/// Returns the names that a header declares in a namespace: in its first
/// column, or as an atom.
inline names declared_in(const lines& text) {
  static const std::regex declaration{
    "\\b(?:struct|class|concept|using) (\\w+)|(\\w+)(?:\\(| =|\\{|;)"};
  static const std::regex atom{"  CAF_ADD_ATOM\\(\\w+, \\w+, (\\w+), .*"};
  names result;
  std::smatch found;
  for (const auto& line : text) {
    if (std::regex_match(line, found, atom))
      result.insert(found[1].str());
    if (line.empty() || std::string{" #/}"}.find(line[0]) != std::string::npos)
      continue;
    for (std::sregex_iterator i{line.begin(), line.end(), declaration}, end;
         i != end; ++i)
      result.insert((*i)[1].matched ? (*i)[1].str() : (*i)[2].str());
  }
  return result;
}

/// Header of Tertulia, of the examples or of the tutorial.
struct header {
  names includes;
  names declarations;
  names namespaces; // lines that open them
};

inline header parse_header(const lines& text) {
  header result{headers_in(text), declared_in(text), {}};
  for (const auto& line : text)
    if (line.starts_with("namespace "))
      result.namespaces.insert(line);
  return result;
}

inline std::map<std::string, header> read_headers() {
  std::map<std::string, header> result;
  for (const auto* room : {"messages", "stores", "actors", "runtime"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator{root / room}) {
      const auto path = entry.path().string();
      const auto i = path.rfind("/tertulia/");
      if (path.ends_with(".hpp") && i != std::string::npos
          && i > root.string().size())
        result[path.substr(i + 1)] = parse_header(lines_of(path));
    }
  for (const auto& entry :
       std::filesystem::directory_iterator{root / "examples"})
    if (entry.path().extension() == ".hpp")
      result[entry.path().filename().string()]
        = parse_header(lines_of(entry.path()));
  std::smatch found;
  for (const auto& x : all_snippets())
    if (std::regex_match(x.marker, found, file_marker))
      result[found[1].str()] = parse_header(x.text);
  return result;
}

/// Returns a header; null for one of other libraries.
inline const header* find_header(const std::string& name) {
  static const auto known = read_headers();
  const auto i = known.find(name);
  return i == known.end() ? nullptr : &i->second;
}

/// Returns these headers and all that they include.
inline names reached_from(const names& headers) {
  names result;
  lines left{headers.begin(), headers.end()};
  while (!left.empty()) {
    const auto name = left.back();
    left.pop_back();
    const auto* known = find_header(name);
    if (result.insert(name).second && known != nullptr)
      left.insert(left.end(), known->includes.begin(), known->includes.end());
  }
  return result;
}

// The header of each name of `std`.
inline const std::map<std::string, std::string> standard_headers{
  {"array", "array"},
  {"atomic", "atomic"},
  {"toupper", "cctype"},
  {"chrono", "chrono"},
  {"size_t", "cstddef"},
  {"int64_t", "cstdint"},
  {"uint16_t", "cstdint"},
  {"uint32_t", "cstdint"},
  {"uint64_t", "cstdint"},
  {"fclose", "cstdio"},
  {"fflush", "cstdio"},
  {"fopen", "cstdio"},
  {"fwrite", "cstdio"},
  {"getenv", "cstdlib"},
  {"filesystem", "filesystem"},
  {"ifstream", "fstream"},
  {"ofstream", "fstream"},
  {"function", "functional"},
  {"future", "future"},
  {"promise", "future"},
  {"cerr", "iostream"},
  {"cin", "iostream"},
  {"cout", "iostream"},
  {"endl", "iostream"},
  {"ios", "iostream"},
  {"map", "map"},
  {"make_shared", "memory"},
  {"make_unique", "memory"},
  {"shared_ptr", "memory"},
  {"unique_ptr", "memory"},
  {"nullopt", "optional"},
  {"optional", "optional"},
  {"getline", "string"},
  {"stoi", "string"},
  {"string", "string"},
  {"to_string", "string"},
  {"string_view", "string_view"},
  {"exchange", "utility"},
  {"move", "utility"},
  {"pair", "utility"},
  {"vector", "vector"},
};

// The header of each name of `caf`.
inline const std::map<std::string, std::string> caf_headers{
  {"actor", "caf/actor.hpp"},
  {"actor_system", "caf/actor_system.hpp"},
  {"behavior", "caf/behavior.hpp"},
  {"close_atom", "caf/type_id.hpp"},
  {"close_atom_v", "caf/type_id.hpp"},
  {"down_msg", "caf/system_messages.hpp"},
  {"error", "caf/error.hpp"},
  {"get_atom", "caf/type_id.hpp"},
  {"get_atom_v", "caf/type_id.hpp"},
  {"put_atom_v", "caf/type_id.hpp"},
  {"stateful_actor", "caf/stateful_actor.hpp"},
};

// The header of other names, and of variables that every page uses alike.
inline const std::map<std::string, std::string> other_headers{
  {"\\bSIGKILL\\b", "csignal"},
  {"\\b(EOF|FILE)\\b", "cstdio"},
  {"\\bTEST_F\\b", "gtest/gtest.h"},
  {"\\bBOOST_DESCRIBE_", "tertulia/describe.hpp"},
  {"::(fsync|getpid)\\b", "unistd.h"},
};
inline const std::map<std::string, std::string> variables{
  {"\\brt\\b", "tertulia/runtime.hpp"},
  {"\\bsystem\\b", "caf/actor_system.hpp"},
};

/// Returns the code of a text, without includes, comments and literals.
inline std::string code_of(const lines& text) {
  static const std::regex literal{R"("(\\.|[^"\\])*")"};
  static const std::regex comment{"//.*"};
  std::string result;
  for (const auto& line : text)
    if (!line.starts_with("#include"))
      result += std::regex_replace(std::regex_replace(line, literal, "\"\""),
                                   comment, "")
                + '\n';
  return result;
}

/// Search for what a snippet uses without showing where it comes from.
///
/// @threads one.
class snippet_search {
public:
  /// @param text text of the snippet.
  /// @param file text of the file that it is a region of.
  snippet_search(const lines& text, const lines& file)
    : text_(text), code_(code_of(text)), named_(headers_in(text)),
      reached_(reached_from(named_)) {
    for (const auto& x : reached_)
      if (const auto* known = find_header(x))
        declared_.insert(known->declarations.begin(),
                         known->declarations.end());
    find_headers();
    find_namespaces();
    find_lines(file);
  }

  /// Returns missing headers, names and lines.
  [[nodiscard]] const names& missing() const {
    return missing_;
  }

private:
  void find_headers() {
    for (const auto& name : qualified_by("std"))
      if (name != "literals" && name != "chrono_literals")
        need(standard_headers, "std::" + name, name, named_);
    for (const auto& name : qualified_by("caf"))
      if (!reached_.contains("caf/all.hpp"))
        need(caf_headers, "caf::" + name, name, reached_);
    for (const auto& [pattern, header] : other_headers)
      if (uses(pattern) && !named_.contains(header))
        missing_.insert(header);
    for (const auto& [pattern, header] : variables)
      if (uses(pattern) && !reached_.contains(header))
        missing_.insert(header);
    if (!uses("\\b\\d+(ns|us|ms|s|min|h)\\b"))
      return;
    if (!named_.contains("chrono"))
      missing_.insert("chrono");
    if (!uses("using namespace std::(chrono_)?literals;"))
      missing_.insert("using namespace std::literals;");
  }

  // Namespaces and classes in front of a name.
  void find_namespaces() {
    static const std::regex qualifier{"(^|[^\\w:])(\\w+)::"};
    names found;
    for (std::sregex_iterator i{code_.begin(), code_.end(), qualifier}, end;
         i != end; ++i)
      found.insert((*i)[2].str());
    for (const auto& x : found) {
      if (x == "std" || x == "caf")
        continue;
      const auto is_alias = uses("namespace " + x + " = tertulia::");
      if (x == "tertulia" || is_alias)
        for (const auto& name : qualified_by(x))
          if (name != "ai" && name != "testing" && !declared_.contains(name))
            missing_.insert(x + "::" + name);
      if (x != "tertulia" && !is_alias && !is_introduced(x))
        missing_.insert(x + "::");
    }
  }

  // Lines of the file that let names be used without their namespace.
  void find_lines(const lines& file) {
    static const std::regex declaration{"using ([a-z_]+::)+([a-z_]+);"};
    static const std::regex directive{"using namespace ([a-z_:]+);"};
    static const std::regex own{"using [^\n]*;\n"};
    const auto code = std::regex_replace(code_, own, "\n");
    for (const auto& indented : file) {
      const auto line = trimmed(indented);
      std::smatch found;
      auto is_used = false;
      if (std::regex_match(line, found, declaration))
        is_used = std::regex_search(
          code, std::regex{"(^|[^\\w:.>])" + found[2].str() + "\\b"});
      else if (std::regex_match(line, found, directive))
        is_used = !found[1].str().ends_with("literals");
      if (is_used && !contains(text_, line))
        missing_.insert(line);
    }
  }

  bool uses(const std::string& pattern) const {
    return std::regex_search(code_, std::regex{pattern});
  }

  /// Returns whether the snippet, or a header beside it, has this scope.
  bool is_introduced(const std::string& scope) const {
    if (uses("namespace " + scope + " =|(struct|class) " + scope
             + "\\b|using (\\w+::)*" + scope + "\\b"))
      return true;
    return std::any_of(named_.begin(), named_.end(), [&](const auto& x) {
      const auto* known = find_header(x);
      return known != nullptr
             && known->namespaces.contains("namespace " + scope + " {");
    });
  }

  names qualified_by(const std::string& scope) const {
    const std::regex pattern{"(^|[^\\w:])" + scope + "::(\\w+)"};
    names result;
    for (std::sregex_iterator i{code_.begin(), code_.end(), pattern}, end;
         i != end; ++i)
      result.insert((*i)[2].str());
    return result;
  }

  void need(const std::map<std::string, std::string>& headers,
            const std::string& whole, const std::string& name,
            const names& there) {
    const auto i = headers.find(name);
    if (i == headers.end())
      missing_.insert(whole + " in the table of this test");
    else if (!there.contains(i->second))
      missing_.insert(i->second);
  }

  lines text_;
  std::string code_;
  names named_;    // headers
  names reached_;  // headers
  names declared_; // in the namespaces of Tertulia and the examples
  names missing_;
};

} // namespace tertulia::test::docs
