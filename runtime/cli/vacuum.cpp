// SPDX-License-Identifier: BSD-3-Clause

#include <memory>

#include "commands.hpp"
#include "units.hpp"

namespace tertulia::tool {

namespace {

struct vacuum_options {};

exit_code vacuum(tool& t, const vacuum_options&) {
  const auto sizes = t.store().ask<vacuumed>(vacuum_store{});
  if (t.as_json()) {
    document x;
    x["bytesBefore"] = sizes.bytes_before;
    x["bytesAfter"] = sizes.bytes_after;
    t.out().json_line(x);
  } else {
    t.out().line("The file had " + human_size(sizes.bytes_before) + " and has "
                 + human_size(sizes.bytes_after) + " now.");
  }
  return exit_code::fine;
}

} // namespace

void add_vacuum(CLI::App& root, command& chosen) {
  auto& x = *root.add_subcommand(
    "vacuum", "Give back to the disk what was deleted and pruned; needs room "
              "for a second file meanwhile");
  when_chosen(x, chosen, std::make_shared<vacuum_options>(), vacuum);
}

} // namespace tertulia::tool
