// SPDX-License-Identifier: BSD-3-Clause

#include <filesystem>
#include <string>
#include <system_error>

#include "commands.hpp"
#include "output/units.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

struct vacuum_options {};

exit_code vacuum(tool& t, const vacuum_options&) {
  auto& store = t.store();
  std::error_code unknown;
  const auto size = std::filesystem::file_size(store.file(), unknown);
  auto bar
    = t.show_progress(unknown ? std::string{"vacuuming"}
                              : fmt::format("vacuuming {}", human_size(size)));
  vacuum_result sizes;
  {
    const elapsed_time clock{bar};
    sizes = store.ask<vacuum_result>(vacuum_store_request{});
  }
  bar.clear();
  t.print(document{{"bytesBefore", sizes.bytes_before},
                   {"bytesAfter", sizes.bytes_after}},
          fmt::format("The file had {} and has {} now.",
                      human_size(sizes.bytes_before),
                      human_size(sizes.bytes_after)));
  return exit_code::fine;
}

} // namespace

void add_vacuum(CLI::App& root, command& chosen) {
  add_command<vacuum_options>(
    root, chosen, "vacuum",
    "Return the space of deleted and pruned data to the disk; meanwhile needs "
    "space for a second file",
    vacuum);
}

} // namespace tertulia::tool
