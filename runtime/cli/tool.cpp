// SPDX-License-Identifier: BSD-3-Clause

#include "tool.hpp"

#include <cstdlib>
#include <filesystem>

#include "failure.hpp"
#include "units.hpp"

namespace tertulia::tool {

void tool::print(const document& as_json, const std::string& as_text) {
  if (options_.json)
    out_.json_line(as_json);
  else
    out_.line(as_text);
}

store_file& tool::store(missing_store missing) {
  if (store_)
    return *store_;
  const auto file = named_store();
  if (file.empty())
    reject_usage("no store was named",
                 "Add --store FILE, or set TERTULIA_STORE to the file.");
  return open(file, missing);
}

store_file&
tool::store_or(const std::function<std::filesystem::path()>& unnamed) {
  if (store_)
    return *store_;
  const auto file = named_store();
  return open(file.empty() ? unnamed() : std::filesystem::path{file},
              missing_store::is_made);
}

std::string tool::named_store() const {
  if (!options_.store.empty())
    return options_.store;
  const char* value = std::getenv("TERTULIA_STORE");
  return value != nullptr ? value : "";
}

store_file& tool::open(const std::filesystem::path& file,
                       missing_store missing) {
  return store_.emplace(file, missing, parse_duration("--wait", options_.wait));
}

} // namespace tertulia::tool
