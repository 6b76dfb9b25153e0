// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/http_server.hpp>
#include <tertulia/json.hpp>
#include <tertulia/status_error.hpp>

#include <functional>
#include <string>

namespace tertulia::web {

/// Error as it leaves the server.
struct outgoing_error {
  errc code = errc::internal;
  std::string text; ///< JSON
};

/// Redaction of what a caller gets of an action.
///
/// @threads a value; the function of the options is called by many at once.
class redaction {
public:
  /// Changes nothing.
  redaction() = default;

  redaction(const http_server_options& options, std::string caller,
            std::string key);

  /// Returns a document as text for the caller.
  /// @errors throws `internal` if the function throws: nothing leaves then.
  [[nodiscard]] std::string text(outgoing_kind kind, json x) const;

  /// Returns the text of a document for the caller; reads it only to change it.
  /// @errors throws `internal` if the function throws, and `invalid_argument`
  ///         if the document cannot be read.
  [[nodiscard]] std::string text(outgoing_kind kind, std::string x) const;

  /// Returns the text of an array of chunks for the caller.
  /// @errors throws `internal` if the function throws, and `invalid_argument`
  ///         if the array cannot be read.
  [[nodiscard]] std::string chunks(std::string x) const;

  /// Returns an error for the caller; `internal` if the function throws.
  [[nodiscard]] outgoing_error error(errc code, json document) const;
  [[nodiscard]] outgoing_error error(const status_error& x) const;

  /// Returns whether anything may be changed.
  explicit operator bool() const noexcept {
    return static_cast<bool>(change_);
  }

private:
  void apply(outgoing_kind kind, json& x) const;

  std::function<void(const outgoing_value&, json&)> change_;
  std::string caller_;
  std::string key_;
};

} // namespace tertulia::web
