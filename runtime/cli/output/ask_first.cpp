// SPDX-License-Identifier: BSD-3-Clause

#include "ask_first.hpp"

#include <tertulia/status.hpp>

#include <iostream>

#include "shown_text.hpp"
#include "tool_failure.hpp"
#include <unistd.h>

namespace tertulia::tool {

void ask_first(const tool& t, const std::string& question, bool yes) {
  if (yes)
    return;
  if (t.as_json() || ::isatty(STDIN_FILENO) != 1
      || ::isatty(STDERR_FILENO) != 1)
    reject_usage("this cannot be undone, and nobody can be asked to confirm it",
                 "Add --yes to confirm it.");
  std::cerr << one_line(question) << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "y" && answer != "Y" && answer != "yes")
    throw failure{status_error{errc::cancelled, "nothing was changed"}};
}

} // namespace tertulia::tool
