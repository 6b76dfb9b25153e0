// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>
#include <utility>

#include "support/tool_process.hpp"

namespace tertulia::test {

/// Process that runs one of the programs of `test_process`.
struct child_process : tool_process {
  child_process(const std::string& name, strings arguments)
    : tool_process(on_pipes, command(name, std::move(arguments))) {}

private:
  static strings command(const std::string& name, strings arguments) {
    arguments.insert(arguments.begin(),
                     {TERTULIA_TEST_BIN_DIR "/test_process", name});
    return arguments;
  }
};

} // namespace tertulia::test
