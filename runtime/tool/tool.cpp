// SPDX-License-Identifier: BSD-3-Clause

#include "tool.hpp"

#include <cstdlib>

#include "failure.hpp"
#include "units.hpp"

namespace tertulia::tool {

store_client& tool::store(missing_store missing) {
  if (store_)
    return *store_;
  auto file = options_.store;
  if (file.empty())
    if (const char* said = std::getenv("TERTULIA_STORE"); said != nullptr)
      file = said;
  if (file.empty())
    reject_usage("no store was named",
                 "Add --store FILE, or set TERTULIA_STORE to the file.");
  return store_.emplace(file, missing, parse_duration("--wait", options_.wait));
}

} // namespace tertulia::tool
