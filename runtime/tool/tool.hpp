// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "exit_code.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "store_file.hpp"

namespace tertulia::tool {

/// What every command can be told.
struct common_options {
  std::string store;
  std::string wait = "2s";
  bool json = false;
};

/// What a command works with.
///
/// @lifetime within that of the options.
class tool {
public:
  explicit tool(const common_options& options) : options_(options) {}

  [[nodiscard]] output& out() noexcept {
    return out_;
  }

  /// Whether a program reads what is printed.
  [[nodiscard]] bool as_json() const noexcept {
    return options_.json;
  }

  /// The store, which is opened when it is needed.
  /// @errors throws a failure.
  [[nodiscard]] store_file& store(missing_store missing
                                  = missing_store::is_refused);

  /// The same for who has a place for a store that nobody has named: `store`
  /// finds that one from then on.
  /// @param unnamed says which file that is.
  store_file& store_or(const std::function<std::filesystem::path()>& unnamed);

  /// A bar for people.
  [[nodiscard]] progress show_progress(std::string what) const {
    return progress{std::move(what), !as_json()};
  }

private:
  /// The file that was named; empty for none.
  [[nodiscard]] std::string named_store() const;

  store_file& open(const std::filesystem::path& file, missing_store missing);

  const common_options& options_;
  output out_;
  std::optional<store_file> store_;
};

/// A command that was chosen, with its options.
using command = std::function<exit_code(tool&)>;

} // namespace tertulia::tool
