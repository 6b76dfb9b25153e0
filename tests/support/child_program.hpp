// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <string>

namespace tertulia::test {

/// Program under tests/process, which a test starts as a process of its own; a
/// global variable enrols it.
///
/// @threads one.
struct child_program {
  /// Function that runs the program; `argv[0]` is its name.
  using function = void (*)(int argc, char** argv);

  child_program(const std::string& name, function run) {
    if (!all().emplace(name, run).second)
      throw std::logic_error{"two programs are called " + name};
  }

  /// Returns all programs by their names.
  static std::map<std::string, function, std::less<>>& all() {
    static std::map<std::string, function, std::less<>> result;
    return result;
  }
};

} // namespace tertulia::test
