// SPDX-License-Identifier: BSD-3-Clause

// Measures the cost of tertulia and compares it with raw CAF.

#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <regex>
#include <string>

#include "machine.hpp"
#include "measure.hpp"
#include "report.hpp"
#include "row.hpp"
#include <CLI/CLI.hpp>

namespace {

using namespace tertulia::bench;

int run(const std::string& json_file, const std::string& filter, bool smoke) {
  auto rows = enrolled_rows();
  const std::regex wanted{filter};
  std::erase_if(rows, [&](const row& x) {
    return !std::regex_search(x.name, wanted);
  });
  if (rows.empty()) {
    std::cerr << "no row matches " << filter << '\n';
    return 1;
  }
  // Opens the file first, so that an error is found before the measurement.
  std::ofstream json;
  if (!json_file.empty()) {
    json.open(json_file);
    if (!json) {
      std::cerr << "cannot write " << json_file << '\n';
      return 1;
    }
  }
  auto machine = describe_machine();
  const auto results = measure(rows, smoke);
  print_table(std::cout, results, !smoke);
  if (json.is_open()) {
    json << to_document(results, std::move(machine), !smoke).dump(2) << '\n';
    json.close();
    if (!json) {
      std::cerr << "cannot write " << json_file << '\n';
      return 1;
    }
  }
  return std::any_of(results.begin(), results.end(),
                     [](const result& x) { return !x.failure.empty(); });
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measures what tertulia costs, each row next to what the same "
               "costs in raw CAF. A missed target is shown, and does not count "
               "as a failure."};
  std::string json_file;
  std::string filter;
  bool smoke = false;
  app.add_option("--json", json_file, "Write the results to this file, too");
  app.add_option("--filter", filter,
                 "Only rows whose name matches this regular expression");
  app.add_flag("--smoke", smoke, "Only show that everything runs, in seconds");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(json_file, filter, smoke);
  } catch (const std::exception& x) {
    std::cerr << x.what() << '\n';
    return 1;
  }
}
