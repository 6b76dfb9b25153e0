// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "exit_code.hpp"
#include "output/progress.hpp"
#include "output/standard_output.hpp"
#include "store/store_access.hpp"

namespace tertulia::tool {

/// Options of every command.
struct common_options {
  std::string store;
  std::string connect;
  std::string certificate;
  bool plain = false;
  std::string wait = "2s";
  bool json = false;
};

/// Environment of a command: its common options, output and store.
///
/// @lifetime must not outlive the options.
class tool {
public:
  explicit tool(const common_options& options) : options_(options) {}

  [[nodiscard]] output& out() noexcept {
    return out_;
  }

  /// Returns whether the output is JSON, for a program.
  [[nodiscard]] bool as_json() const noexcept {
    return options_.json;
  }

  /// Prints a result: a document for a program, or a line for people.
  void print(const document& as_json, const std::string& as_text);

  /// Prints a value of an action as JSON, as soon as it arrives. With `--json`
  /// the line names its kind.
  void print_value(const char* kind, const json& x);

  /// Returns the store, which is opened by the first call.
  /// @errors throws a failure.
  [[nodiscard]] store_access& store(missing_store missing
                                    = missing_store::is_refused);

  /// Returns the store, like `store`, but opens a default file if none was
  /// given. Later calls of `store` return that one.
  /// @param unnamed returns the default file.
  store_access& store_or(const std::function<std::filesystem::path()>& unnamed);

  /// Returns whether the command works on a running program.
  [[nodiscard]] bool is_connected() const noexcept {
    return !options_.connect.empty();
  }

  /// Returns the address of the running program.
  /// @pre `is_connected()`
  [[nodiscard]] program_address address() const;

  /// Returns the options that name the store, as they are typed again; empty if
  /// there are none.
  [[nodiscard]] std::string store_options() const;

  /// Returns a progress bar, which is shown to people only.
  [[nodiscard]] progress show_progress(std::string work) const {
    return progress{std::move(work), !as_json()};
  }

private:
  /// Returns the given store file; empty without one.
  [[nodiscard]] std::string named_store() const;

  store_access& connect();
  store_access& open(const std::filesystem::path& file, missing_store missing);

  const common_options& options_;
  output out_;
  std::optional<store_access> store_;
};

/// The selected command, with its options.
using command = std::function<exit_code(tool&)>;

} // namespace tertulia::tool
