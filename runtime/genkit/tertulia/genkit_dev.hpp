// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/runtime.hpp>

#include <memory>
#include <string>

namespace tertulia {

/// Options of a `genkit_dev`, with their defaults.
struct genkit_dev_options {
  /// Returns the options that Genkit's command line sets in the environment:
  /// `GENKIT_ENV`, `GENKIT_REFLECTION_HOST`, `GENKIT_REFLECTION_V2_SERVER`,
  /// `GENKIT_TELEMETRY_SERVER` and `GENKIT_ENABLE_REALTIME_TELEMETRY`.
  [[nodiscard]] static genkit_dev_options from_environment();

  /// Whether anything happens at all: `GENKIT_ENV` is `dev`.
  bool is_active = false;

  /// Name of the program in the tools; may be empty.
  std::string name{};

  /// WebSocket of a command line that the program connects to, such as
  /// `ws://localhost:3200`. Empty: the program serves a port and announces it
  /// in a file.
  std::string command_line{};

  /// Address of that port, which is the first free one from 3100 on.
  std::string address = "127.0.0.1";

  /// Folder in which the port is announced. Empty: that of the project, as the
  /// command line looks for it from the working directory.
  std::string folder{};

  /// Server that traces are sent to. Empty: that of the command line.
  std::string telemetry_server{};

  /// Whether spans are sent when they start, too.
  bool sends_starts = false;
};

/// Connection of a program to Genkit's developer tools: `genkit start`,
/// `flow:run`, `eval:flow`, `trace:list` and others, and the page that
/// `genkit start` serves.
///
/// ```
/// tertulia::genkit_dev dev{rt};
/// ```
///
/// For development: the tools see and run all actions of the runtime, models
/// and tools included, without a token. Without `GENKIT_ENV=dev` in the
/// environment nothing is served.
///
/// @threads  all members.
/// @lifetime must not outlive its runtime. The destructor ends it.
/// @design   docs/genkit.md#genkits-developer-tools.
class genkit_dev {
public:
  /// @errors throws `unavailable` if there is no free port; `permission_denied`
  ///         if it cannot be announced; `invalid_argument` for an address that
  ///         cannot be read; `failed_precondition` for one beyond the loopback
  ///         interface.
  explicit genkit_dev(runtime& rt, genkit_dev_options options
                                   = genkit_dev_options::from_environment());

  genkit_dev(const genkit_dev&) = delete;
  genkit_dev& operator=(const genkit_dev&) = delete;

  ~genkit_dev();

  [[nodiscard]] bool is_active() const noexcept;

  /// Returns the address of the port; empty without one.
  [[nodiscard]] std::string url() const;

private:
  class core;

  std::unique_ptr<core> core_;
};

} // namespace tertulia
