// SPDX-License-Identifier: BSD-3-Clause

#include "damages.hpp"

#include <cstdint>
#include <string>

#include "output/shown_text.hpp"
#include "output/table.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

/// Returns a dash for an empty name. Damage of the file itself has no names.
std::string or_dash(const std::string& name) {
  return name.empty() ? "-" : shown(name);
}

void print(tool& t, const std::vector<damage>& damages, damage_kind kind,
           const char* title) {
  table rows{t.out(),
             {{"AGENT", column_kind::text},
              {"SESSION", column_kind::text},
              {"RECORD", column_kind::number},
              {"WHAT", column_kind::text}}};
  std::uint64_t count = 0;
  for (const auto& x : damages)
    if (x.kind == kind) {
      ++count;
      rows.row({or_dash(x.where.agent), or_dash(x.where.id.str()),
                x.sequence == 0 ? "-" : std::to_string(x.sequence), x.what});
    }
  if (count == 0)
    return;
  t.out().line(fmt::format("{}: {}", title, count));
  rows.print();
  t.out().line("");
}

} // namespace

void print_damages(tool& t, const std::vector<damage>& damages) {
  print(t, damages, damage_kind::corrupt, "corrupt");
  print(t, damages, damage_kind::missing, "missing");
}

document document_of(const std::vector<damage>& damages) {
  auto result = document::array();
  for (const auto& x : damages)
    result.push_back(document_of(x));
  return result;
}

exit_code code_of(const std::vector<damage>& damages) noexcept {
  return damages.empty() ? exit_code::fine : exit_code::damaged;
}

} // namespace tertulia::tool
