// SPDX-License-Identifier: BSD-3-Clause

#include "key_set.hpp"

#include <tertulia/status_error.hpp>

#include <utility>

#include <fmt/format.h>

namespace tertulia::jwt {

namespace {

constexpr std::size_t least_rsa_bits = 2'048;

std::string text_in(const json& x, const char* name) {
  const auto i = x.find(name);
  return i != x.end() && i->is_string() ? i->get<std::string>() : std::string{};
}

[[noreturn]] void reject(std::size_t index, const char* what) {
  throw status_error{errc::invalid_argument,
                     fmt::format("keys[{}]: {}", index, what)};
}

/// Returns whether a key is for signatures by one of the known algorithms:
/// others may stand beside it.
bool is_meant(const json& x) {
  const auto use = text_in(x, "use");
  const auto kind = text_in(x, "kty");
  const auto name = text_in(x, "alg");
  if (!use.empty() && use != "sig")
    return false;
  return kind == "RSA" ? name.empty() || name == "RS256"
                       : kind == "EC" && text_in(x, "crv") == "P-256"
                           && (name.empty() || name == "ES256");
}

public_key read(const json& x, std::size_t index) {
  if (x.contains("d"))
    reject(index, "is a private key, which belongs to the issuer only");
  const auto text = to_json_text(x);
  public_key result;
  result.id = text_in(x, "kid");
  result.kind
    = text_in(x, "kty") == "RSA" ? algorithm::rs256 : algorithm::es256;
  result.key.reset(cjose_jwk_import(text.data(), text.size(), nullptr));
  if (!result.key)
    reject(index, "cannot be read");
  if (result.kind == algorithm::rs256
      && cjose_jwk_get_keysize(result.key.get(), nullptr) < least_rsa_bits)
    reject(index, "is shorter than 2048 bits");
  return result;
}

} // namespace

key_set::key_set(std::string_view text) {
  const auto set = parse_json<json>(text);
  if (!set.is_object() || !set.contains("keys") || !set["keys"].is_array())
    throw status_error{errc::invalid_argument, "$.keys: is not an array"};
  const auto& all = set["keys"];
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].is_object() && is_meant(all[i]))
      keys_.push_back(read(all[i], i));
  if (keys_.empty())
    throw status_error{errc::invalid_argument,
                       "$.keys: has no key for RS256 or ES256"};
}

const cjose_jwk_t* key_set::find(const std::string& id,
                                 algorithm kind) const noexcept {
  const cjose_jwk_t* result = nullptr;
  for (const auto& x : keys_) {
    if (x.kind != kind || (!id.empty() && x.id != id))
      continue;
    if (result != nullptr)
      return nullptr;
    result = x.key.get();
  }
  return result;
}

} // namespace tertulia::jwt
