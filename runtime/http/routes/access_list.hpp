// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/key_patterns.hpp>
#include <tertulia/http_server.hpp>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tertulia::web {

/// Rules about who may use the server, and which actions there are for clients.
///
/// @threads all members.
class access_list {
public:
  /// @errors as the constructor of `http_server`.
  explicit access_list(const http_server_options& options);

  /// Returns whether an action exists for clients.
  [[nodiscard]] bool exposes(std::string_view key) const {
    return exposed_.contains(key);
  }

  /// Returns whether a function of the program decides what callers may do;
  /// otherwise they may do everything.
  [[nodiscard]] bool restricts() const noexcept {
    return static_cast<bool>(authorize_);
  }

  /// Returns whether a function of the program names the approvers; otherwise
  /// each caller is its own.
  [[nodiscard]] bool has_approvers() const noexcept {
    return static_cast<bool>(approve_);
  }

  /// Returns whether a caller may do this.
  [[nodiscard]] bool allows(const access_request& x) const noexcept {
    return detail::allows(authorize_, x);
  }

  /// Returns the name of a caller; empty if everyone is served.
  /// @param authorization the header field of that name.
  /// @returns nothing if the caller is not known.
  [[nodiscard]] std::optional<std::string>
  caller_of(std::string_view authorization) const;

  /// Returns whether a caller may answer questions of tools.
  [[nodiscard]] bool approves(const approval_request& x) const noexcept;

  /// Returns whether callers need a token.
  [[nodiscard]] bool needs_token() const noexcept {
    return !callers_.empty() || authenticate_;
  }

  /// Returns whether a `Host` may name this server. A page of another site can
  /// give its own name the loopback address, and is then of the same origin.
  [[nodiscard]] bool is_host(std::string_view host) const;

  /// Returns whether a page of an origin may use the server.
  /// @param host the `Host` of the request: pages of the server itself may.
  [[nodiscard]] bool allows_origin(std::string_view origin,
                                   std::string_view host) const;

private:
  using digest = std::array<unsigned char, 32>;

  struct known_caller {
    std::string name;
    digest token; ///< SHA-256: the time to compare does not depend on the text
  };

  static digest digest_of(std::string_view token);

  /// Returns the name of a caller whom another function knows.
  [[nodiscard]] std::optional<std::string>
  caller_elsewhere(std::string_view token) const;

  detail::key_patterns exposed_;
  access_rule authorize_;
  std::function<bool(const approval_request&)> approve_;
  std::function<std::optional<std::string>(std::string_view)> authenticate_;
  std::vector<known_caller> callers_;
  std::vector<std::string> origins_;
  std::vector<std::string> hosts_; ///< empty: every host
  bool any_origin_ = false;
};

} // namespace tertulia::web
