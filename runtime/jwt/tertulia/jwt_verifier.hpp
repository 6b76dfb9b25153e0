// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/timespan.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tertulia {

/// Options of a `jwt_verifier`.
struct jwt_options {
  /// File with the public keys of the issuer: a JWK set (RFC 7517).
  std::string keys{};

  /// Issuer of the tokens (`iss`), such as `https://login.example.org`.
  std::string issuer{};

  /// Name of this program among the audiences of a token (`aud`).
  std::string audience{};

  /// Claim with the name of the caller.
  std::string caller = "sub";

  /// Difference of the clocks of two machines that is tolerated.
  caf::timespan clock_skew = std::chrono::minutes{1};
};

/// Verifier of JSON Web Tokens (RFC 7519), which a login server has signed. A
/// function for `http_server_options::authenticate`:
///
/// ```
/// tertulia::http_server web{rt, {.authenticate = tertulia::jwt_verifier{
///   {.keys = "keys.json", .issuer = "https://login.example.org",
///    .audience = "chat"}}}};
/// ```
///
/// A token is good if it is signed by one of the keys with RS256 or ES256, has
/// an expiry that is not over, and is of this issuer for this audience. The
/// algorithm must be that of the key; an unsigned token and one with a
/// symmetric signature are never good, nor is one with an extension that must
/// be understood (`crit`).
///
/// @threads  all members. Copies share the keys.
/// @design   docs/server.md#tokens-of-a-login-server.
class jwt_verifier {
public:
  /// @errors throws `invalid_argument` for options that are empty, and for keys
  ///         that cannot be used: of another kind, too short, or private;
  ///         `not_found` without the file, `permission_denied` if this process
  ///         may not read it, `failed_precondition` for a folder.
  explicit jwt_verifier(jwt_options options);

  /// Returns the name of the caller in a token.
  /// @returns nothing if the token is not good.
  [[nodiscard]] std::optional<std::string>
  operator()(std::string_view token) const;

  /// Reads the file of the keys again: tokens of keys that are gone are no
  /// longer good.
  /// @errors as the constructor; the keys stay as they are then.
  void renew();

private:
  class state;

  std::shared_ptr<state> state_;
};

} // namespace tertulia
