// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "reflection.hpp"
#include "server/server_core.hpp"

namespace tertulia::web {

/// Version 1 of the reflection protocol: a port of this program, which is
/// announced in a file.
///
/// @threads all members.
class reflection_server final : public server_core {
public:
  /// Serves the first free port.
  /// @param folder of the project; empty for the one that the command line
  ///               finds.
  /// @errors throws `unavailable`.
  [[nodiscard]] static std::unique_ptr<reflection_server>
  make(reflection& of, runtime& rt, const std::string& address,
       const std::string& folder, const std::string& name);

  reflection_server(reflection& of, runtime& rt, http_server_options options);

  ~reflection_server() override;

  [[nodiscard]] reflection& actions_of_tools() const noexcept {
    return reflection_;
  }

  /// Returns the id of this program for the tools.
  [[nodiscard]] const std::string& id() const noexcept {
    return id_;
  }

  /// Removes the announcement.
  void withdraw() noexcept;

private:
  void announce(const std::string& folder, const std::string& name);

  reflection& reflection_;
  std::string id_;
  std::mutex mutex_;
  std::string file_;
};

} // namespace tertulia::web
