// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <functional>
#include <map>
#include <string>

namespace tertulia::test {

/// Program under tests/process, which a test starts as a process of its own.
///
/// @lifetime a global variable enrols it.
struct child_program {
  /// Runs the program; its name is the first argument.
  using function = void (*)(int argc, char** argv);

  child_program(const std::string& name, function run) {
    all().emplace(name, run);
  }

  /// Returns all programs by their names.
  static std::map<std::string, function, std::less<>>& all() {
    static std::map<std::string, function, std::less<>> result;
    return result;
  }
};

} // namespace tertulia::test
