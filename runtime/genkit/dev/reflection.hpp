// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/descriptor.hpp>
#include <tertulia/json.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/trace.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "message/channel.hpp"
#include "talk/frame.hpp"
#include "talk/talk.hpp"
#include "telemetry.hpp"

namespace tertulia::web {

/// Version of this program for Genkit's tools.
inline constexpr auto reflection_program = "cpp/0.1.0";

/// Request of Genkit's tools to run an action.
struct reflection_call {
  std::string key; ///< as Genkit's tools name it
  std::optional<json> input;
  json init;   ///< null for none
  json labels; ///< attributes of the span; null for none
  bool is_stream = false;
  /// Whether inputs follow, until the end of the input is told.
  bool has_more_inputs = false;

  /// Reads a request of either version of the protocol.
  /// @errors throws `invalid_argument`.
  [[nodiscard]] static reflection_call of(const json& x);
};

/// Action that runs for Genkit's tools.
///
/// @threads all members.
class reflected_run {
public:
  /// @param is_agent  whether inputs are those of Genkit's agents.
  /// @param is_stored whether a turn may go on without its client.
  void begin(std::shared_ptr<talk> client, bool is_agent, bool is_stored);

  /// Sends a further input. One that cannot be read ends the run.
  void send(const json& input);

  void close();

  void cancel();

  [[nodiscard]] bool is_cancelled() const;

  /// Returns whether an input has said that its turn goes on without a client.
  [[nodiscard]] bool is_detached() const;

private:
  /// @pre the run has begun, and the mutex is locked.
  void pass_on(const json& input);

  mutable std::mutex mutex_;
  std::shared_ptr<talk> client_;
  bool is_agent_ = false;
  bool is_stored_ = false;
  /// Inputs that came before the run had begun.
  std::vector<json> early_;
  bool is_closed_ = false;
  bool is_cancelled_ = false;
  bool is_detached_ = false;
};

/// Listener to a run for one of the protocols.
class reflection_sink {
public:
  reflection_sink() = default;

  reflection_sink(const reflection_sink&) = delete;
  reflection_sink& operator=(const reflection_sink&) = delete;

  virtual ~reflection_sink() = default;

  /// The run has begun, with this root span.
  virtual net::awaitable<void> started(const span_context& root) = 0;

  /// @returns false if the client is gone.
  virtual net::awaitable<bool> chunk(const json& x) = 0;
};

/// Actions of a runtime as Genkit's tools see them, in either version of the
/// reflection protocol.
///
/// @threads all members.
class reflection {
public:
  reflection(runtime& rt, std::shared_ptr<genkit_telemetry> telemetry)
    : runtime_(rt), telemetry_(std::move(telemetry)) {}

  reflection(const reflection&) = delete;
  reflection& operator=(const reflection&) = delete;

  /// Returns all actions by key.
  [[nodiscard]] json actions() const;

  /// Returns whether there is an action of this key.
  [[nodiscard]] bool has(const std::string& key) const;

  /// Runs an action.
  /// @param inputs gets the client that takes further inputs.
  /// @returns the last document: `result`, or `error`, and `telemetry`.
  net::awaitable<json> run(reflection_call call, reflection_sink& to,
                           std::shared_ptr<reflected_run> inputs);

  /// Cancels a run.
  /// @returns whether there was one.
  bool cancel(const std::string& trace);

  [[nodiscard]] genkit_telemetry& telemetry() const noexcept {
    return *telemetry_;
  }

private:
  /// Returns the action that Genkit's tools mean.
  /// @errors throws `not_found`.
  [[nodiscard]] json_action find(const std::string& key) const;

  net::awaitable<json> run_traced(const reflection_call& call,
                                  reflection_sink& to, reflected_run& inputs,
                                  const span_context& root);

  runtime& runtime_;
  std::shared_ptr<genkit_telemetry> telemetry_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<reflected_run>> runs_; ///< by trace
};

/// Returns the number of a code in Genkit's protocols.
[[nodiscard]] int reflection_code(errc x) noexcept;

/// Returns an error as the last document of a run.
[[nodiscard]] json reflection_error(errc code, const std::string& message,
                                    const std::string& trace);

} // namespace tertulia::web
