// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cjose/cjose.h>

namespace tertulia::jwt {

/// Signature algorithm.
enum class algorithm : std::uint8_t { rs256, es256 };

/// Public key of an issuer.
struct public_key {
  struct release {
    void operator()(cjose_jwk_t* x) const noexcept {
      cjose_jwk_release(x);
    }
  };

  std::string id; ///< may be empty
  algorithm kind = algorithm::rs256;
  std::unique_ptr<cjose_jwk_t, release> key;
};

/// Public keys of an issuer.
///
/// @threads immutable.
class key_set {
public:
  /// Reads a JWK set.
  /// @errors throws `invalid_argument`.
  explicit key_set(std::string_view text);

  /// Returns the key of a token; null if there is none, or if several may be
  /// meant.
  /// @param id as the token names it; may be empty.
  [[nodiscard]] const cjose_jwk_t* find(const std::string& id,
                                        algorithm kind) const noexcept;

private:
  std::vector<public_key> keys_;
};

} // namespace tertulia::jwt
