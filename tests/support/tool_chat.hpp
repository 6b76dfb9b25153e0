// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/scratch.hpp"
#include "support/tool_process.hpp"
#include <gtest/gtest.h>

namespace tertulia::test {

/// Fixture that runs `tertulia` for a user whose data directory is empty at
/// first.
struct a_chat : ::testing::Test {
  strings command(strings arguments) const {
    return joined({"env", "XDG_DATA_HOME=" + (folder / "data").string(),
                   TERTULIA_TOOL},
                  arguments);
  }

  tool_result run(strings arguments, const std::string& input = {}) const {
    return run_process(command(std::move(arguments)), input);
  }

  /// Returns the answers to lines of input; the run must succeed.
  std::string answers(const std::string& input, strings options = {}) const {
    options.insert(options.begin(), {"chat", "--quiet"});
    const auto result = run(std::move(options), input);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }

  /// Returns the answers to lines of input, one document per answer.
  std::vector<json> documents(const std::string& input,
                              strings options = {}) const {
    options.insert(options.begin(), {"chat", "--json"});
    const auto result = run(std::move(options), input);
    EXPECT_EQ(result.code, 0) << result.err;
    return documents_in(result.out);
  }

  /// Returns the records of the conversation as `/snapshots` shows them: the
  /// lines of the tree, mark and number.
  strings tree() const {
    strings result;
    auto rows = lines_of(answers("/snapshots\n"));
    if (!rows.empty())
      rows.erase(rows.begin()); // titles
    for (const auto& x : rows)
      result.push_back(x.substr(0, x.find("  ")));
    return result;
  }

  scratch folder;
  /// Store of the user.
  std::filesystem::path file = folder / "data" / "tertulia" / "chat.db";
};

} // namespace tertulia::test
