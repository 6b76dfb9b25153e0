// SPDX-License-Identifier: BSD-3-Clause

#include "access_list.hpp"

#include <tertulia/caller.hpp>
#include <tertulia/detail/text.hpp>
#include <tertulia/status_error.hpp>

#include <algorithm>
#include <utility>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace tertulia::web {

namespace {

constexpr std::size_t least_token = 16;

bool is_loopback(const std::string& address) {
  boost::system::error_code problem;
  const auto parsed = boost::asio::ip::make_address(address, problem);
  if (problem)
    throw status_error{errc::invalid_argument,
                       fmt::format("address: {} is not an IP address",
                                   address)};
  return parsed.is_loopback();
}

/// Returns a host without its port.
std::string_view name_of_host(std::string_view host) {
  const auto bracket = host.rfind(']');
  const auto colon = host.rfind(':');
  if (colon == std::string_view::npos
      || (bracket != std::string_view::npos && colon < bracket))
    return host;
  return host.substr(0, colon);
}

} // namespace

access_list::access_list(const http_server_options& options)
  : exposed_(options.expose), authorize_(options.authorize),
    approve_(options.approve), authenticate_(options.authenticate),
    origins_(options.origins) {
  for (const auto& x : options.tokens) {
    check_caller(caller_name{x.caller});
    if (x.token.size() < least_token)
      throw status_error{errc::invalid_argument,
                         fmt::format("tokens: that of {} is too short",
                                     x.caller)};
    callers_.push_back({x.caller, digest_of(x.token)});
  }
  any_origin_
    = std::find(origins_.begin(), origins_.end(), "*") != origins_.end();
  if (is_loopback(options.address)) {
    hosts_ = {"localhost", "127.0.0.1", "[::1]", options.address};
    for (const auto& x : options.hosts)
      hosts_.push_back(detail::lowered(x));
  } else if (!needs_token()) {
    throw status_error{errc::failed_precondition,
                       "a server beyond the loopback interface needs tokens"};
  } else if (!options.behind_proxy && options.certificate.empty()) {
    throw status_error{errc::failed_precondition,
                       "a server beyond the loopback interface needs a "
                       "certificate, or a proxy that encrypts"};
  }
}

access_list::digest access_list::digest_of(std::string_view token) {
  digest result{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(),
         result.data());
  return result;
}

bool access_list::approves(const approval_request& x) const noexcept {
  try {
    return approve_ ? approve_(x) : x.owner == x.caller;
  } catch (...) {
    return false;
  }
}

std::optional<std::string>
access_list::caller_of(std::string_view authorization) const {
  if (!needs_token())
    return std::string{};
  constexpr std::string_view scheme = "bearer ";
  if (detail::lowered(authorization.substr(0, scheme.size())) != scheme)
    return std::nullopt;
  const auto given = authorization.substr(scheme.size());
  const auto token = digest_of(given);
  const known_caller* found = nullptr;
  for (const auto& x : callers_)
    if (CRYPTO_memcmp(x.token.data(), token.data(), token.size()) == 0)
      found = &x;
  return found != nullptr ? std::optional{found->name}
                          : caller_elsewhere(given);
}

std::optional<std::string>
access_list::caller_elsewhere(std::string_view token) const {
  if (!authenticate_)
    return std::nullopt;
  try {
    auto result = authenticate_(token);
    if (result)
      check_caller(caller_name{*result}); // it would own the sessions of others
    return result;
  } catch (...) {
    return std::nullopt;
  }
}

bool access_list::is_host(std::string_view host) const {
  return hosts_.empty()
         || std::find(hosts_.begin(), hosts_.end(),
                      detail::lowered(name_of_host(host)))
              != hosts_.end();
}

bool access_list::allows_origin(std::string_view origin,
                                std::string_view host) const {
  if (any_origin_
      || std::find(origins_.begin(), origins_.end(), origin) != origins_.end())
    return true;
  const auto scheme = origin.find("://");
  return scheme != std::string_view::npos
         && detail::lowered(origin.substr(scheme + 3)) == detail::lowered(host);
}

} // namespace tertulia::web
