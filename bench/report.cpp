// SPDX-License-Identifier: BSD-3-Clause

#include "report.hpp"

#include <cmath>
#include <cstdio>
#include <ostream>
#include <string>

namespace tertulia::bench {

namespace {

using document = nlohmann::ordered_json;

bool is_promise(const result& x) {
  return x.of.promise.of != target::kind::none;
}

/// Returns the distribution that the target limits; the value without a target.
const distribution& judged(const result& x) {
  return x.of.promise.of == target::kind::ratio ? x.ratio : x.ours;
}

/// Returns three significant digits, and all digits before the point.
std::string number(double x) {
  char text[32];
  const char* format = "%.4f";
  const auto size = std::abs(x);
  if (size >= 100)
    format = "%.0f";
  else if (size >= 10)
    format = "%.1f";
  else if (size >= 1)
    format = "%.2f";
  else if (size >= 0.1)
    format = "%.3f";
  std::snprintf(text, sizeof(text), format, x);
  return text;
}

std::string promise(const target& x) {
  switch (x.of) {
    case target::kind::value: return "<= " + number(x.limit);
    case target::kind::ratio: return "<= " + number(x.limit) + "x";
    default: return "-";
  }
}

std::string verdict(const result& x, bool judge) {
  const auto holds = x.holds();
  if (!judge || !holds)
    return "-";
  return *holds ? "yes" : "NO";
}

void print_line(std::ostream& out, const std::string& name,
                const std::string& value, const std::string& unit,
                const std::string& baseline, const std::string& ratio,
                const std::string& target, const std::string& holds,
                const std::string& spread) {
  char line[160];
  std::snprintf(line, sizeof(line), "%-24s%9s %-6s%9s%7s  %-10s%-6s%s\n",
                name.c_str(), value.c_str(), unit.c_str(), baseline.c_str(),
                ratio.c_str(), target.c_str(), holds.c_str(), spread.c_str());
  out << line;
}

document spread(const distribution& x) {
  return {{"lower", x.lower}, {"upper", x.upper}};
}

document to_entry(const result& x, bool judge) {
  document entry;
  entry["name"] = x.of.name;
  entry["unit"] = x.of.unit;
  if (!x.failure.empty()) {
    entry["failure"] = x.failure;
    return entry;
  }
  entry["value"] = x.ours.median;
  entry["baseline"] = x.baseline.median;
  entry["ratio"] = x.ratio.median;
  const auto holds = x.holds();
  entry["target"] = is_promise(x) ? document(x.of.promise.limit) : document();
  if (is_promise(x))
    entry["target_of"]
      = x.of.promise.of == target::kind::ratio ? "ratio" : "value";
  entry["holds"] = judge && holds ? document(*holds) : document();
  entry["samples"] = x.samples;
  entry["operations"] = x.operations; // per sample
  entry["spread"] = {{"value", spread(x.ours)},
                     {"baseline", spread(x.baseline)},
                     {"ratio", spread(x.ratio)}};
  return entry;
}

} // namespace

void print_table(std::ostream& out, const std::vector<result>& results,
                 bool judge) {
  print_line(out, "", "value", "unit", "raw CAF", "ratio", "target", "holds",
             "half of all samples in");
  for (const auto promised : {true, false})
    for (const auto& x : results) {
      if (is_promise(x) != promised)
        continue;
      if (!x.failure.empty()) {
        print_line(out, x.of.name, "failed:", x.failure, "", "", "", "", "");
        continue;
      }
      const auto& about = judged(x);
      const auto* suffix = x.of.promise.of == target::kind::ratio ? "x" : "";
      print_line(out, x.of.name, number(x.ours.median), x.of.unit,
                 number(x.baseline.median), number(x.ratio.median),
                 promise(x.of.promise), verdict(x, judge),
                 number(about.lower) + " .. " + number(about.upper) + suffix);
      for (const auto& y : x.facts)
        print_line(out, "  " + y.name, number(y.value), y.unit, "", "", "", "",
                   "");
    }
}

document to_document(const std::vector<result>& results, document machine,
                     bool judge) {
  document rows = document::array();
  document info = document::array();
  for (const auto& x : results) {
    rows.push_back(to_entry(x, judge));
    for (const auto& y : x.facts)
      info.push_back({{"name", x.of.name + '_' + y.name},
                      {"unit", y.unit},
                      {"value", y.value}});
  }
  return {{"machine", std::move(machine)},
          {"smoke", !judge},
          {"rows", std::move(rows)},
          {"info", std::move(info)}};
}

} // namespace tertulia::bench
