// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/read_file.hpp>
#include <tertulia/json.hpp>
#include <tertulia/jwt_verifier.hpp>
#include <tertulia/status_error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "key_set.hpp"
#include <fmt/format.h>

namespace tertulia {

namespace {

/// Maximum size of a token: it is read before anything of it is trusted.
constexpr std::size_t max_token = std::size_t{16} * 1'024;

void check(const jwt_options& x) {
  const auto reject = [](const char* name) {
    throw status_error{errc::invalid_argument,
                       fmt::format("{}: is missing", name)};
  };
  if (x.issuer.empty())
    reject("issuer");
  if (x.audience.empty())
    reject("audience");
  if (x.caller.empty())
    reject("caller");
  if (x.clock_skew.count() < 0)
    throw status_error{errc::invalid_argument, "clock_skew: is negative"};
}

std::shared_ptr<const jwt::key_set> read_keys(const std::string& file) {
  const auto text = detail::read_file(file);
  try {
    return std::make_shared<const jwt::key_set>(text);
  } catch (const status_error& x) {
    throw status_error{x.code(), fmt::format("{}: {}", file, x.message())};
  }
}

/// Returns the header of a token; null if there is none.
json header_of(std::string_view token) {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  if (!cjose_base64url_decode(token.data(), token.find('.'), &bytes, &size,
                              nullptr))
    return nullptr;
  const std::unique_ptr<std::uint8_t, decltype(&std::free)> owner{bytes,
                                                                  &std::free};
  try {
    return parse_json<json>(
      std::string_view{reinterpret_cast<const char*>(bytes), size});
  } catch (const status_error&) {
    return nullptr;
  }
}

/// Returns the claims of a token that a key has signed; null otherwise.
json claims_of(std::string_view token, const cjose_jwk_t* key) {
  const std::unique_ptr<cjose_jws_t, decltype(&cjose_jws_release)> jws{
    cjose_jws_import(token.data(), token.size(), nullptr), &cjose_jws_release};
  if (!jws || !cjose_jws_verify(jws.get(), key, nullptr))
    return nullptr;
  std::uint8_t* bytes = nullptr; // those of the token
  std::size_t size = 0;
  if (!cjose_jws_get_plaintext(jws.get(), &bytes, &size, nullptr))
    return nullptr;
  try {
    return parse_json<json>(
      std::string_view{reinterpret_cast<const char*>(bytes), size});
  } catch (const status_error&) {
    return nullptr;
  }
}

const json& claim(const json& x, const std::string& name) {
  static const json none;
  const auto i = x.find(name);
  return i != x.end() ? *i : none;
}

bool is_time(const json& x) {
  return x.is_number() && std::isfinite(x.get<double>());
}

/// Returns whether a token is good at a time.
bool is_timely(const json& claims, double now, double skew) {
  const auto& end = claim(claims, "exp");
  const auto& begin = claim(claims, "nbf");
  if (!is_time(end) || now >= end.get<double>() + skew)
    return false;
  return begin.is_null()
         || (is_time(begin) && now >= begin.get<double>() - skew);
}

bool is_text(const json& x, const std::string& text) {
  return x.is_string() && x.get_ref<const std::string&>() == text;
}

bool is_for(const json& audience, const std::string& name) {
  if (!audience.is_array())
    return is_text(audience, name);
  return std::any_of(audience.begin(), audience.end(),
                     [&](const json& x) { return is_text(x, name); });
}

} // namespace

/// Keys of a verifier, which its copies share.
class jwt_verifier::state {
public:
  explicit state(jwt_options options)
    : options_(std::move(options)), keys_(read_keys(options_.keys)) {
    check(options_);
  }

  void renew() {
    auto next = read_keys(options_.keys);
    const std::lock_guard guard{mutex_};
    keys_ = std::move(next);
  }

  [[nodiscard]] std::optional<std::string>
  caller_of(std::string_view token) const {
    if (token.size() > max_token || token.find('.') == std::string_view::npos)
      return std::nullopt;
    const auto header = header_of(token);
    if (!header.is_object() || header.contains("crit"))
      return std::nullopt;
    const auto& name = claim(header, "alg");
    const auto& id = claim(header, "kid");
    const auto is_rsa = is_text(name, "RS256");
    if ((!is_rsa && !is_text(name, "ES256"))
        || (!id.is_null() && !id.is_string()))
      return std::nullopt;
    const auto keys = present_keys();
    const auto* key
      = keys->find(id.is_string() ? id.get<std::string>() : "",
                   is_rsa ? jwt::algorithm::rs256 : jwt::algorithm::es256);
    if (key == nullptr)
      return std::nullopt;
    const auto claims = claims_of(token, key);
    using seconds = std::chrono::duration<double>;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    if (!claims.is_object() || !is_text(claim(claims, "iss"), options_.issuer)
        || !is_for(claim(claims, "aud"), options_.audience)
        || !is_timely(claims, seconds{now}.count(),
                      seconds{options_.clock_skew}.count()))
      return std::nullopt;
    const auto& caller = claim(claims, options_.caller);
    if (!caller.is_string())
      return std::nullopt;
    return caller.get<std::string>();
  }

private:
  [[nodiscard]] std::shared_ptr<const jwt::key_set> present_keys() const {
    const std::lock_guard guard{mutex_};
    return keys_;
  }

  const jwt_options options_;
  mutable std::mutex mutex_;
  std::shared_ptr<const jwt::key_set> keys_;
};

jwt_verifier::jwt_verifier(jwt_options options)
  : state_(std::make_shared<state>(std::move(options))) {}

std::optional<std::string>
jwt_verifier::operator()(std::string_view token) const {
  return state_->caller_of(token);
}

void jwt_verifier::renew() {
  state_->renew();
}

} // namespace tertulia
