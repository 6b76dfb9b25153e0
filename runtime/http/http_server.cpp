// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/http_server.hpp>

#include <utility>

#include "routes/router.hpp"
#include "server/server_core.hpp"

namespace tertulia {

http_server::http_server(runtime& rt, http_server_options options)
  : core_(std::make_unique<web::server_core>(rt, std::move(options),
                                             web::http_routes())) {
  core_->start();
}

http_server::~http_server() = default;

std::uint16_t http_server::port() const noexcept {
  return core_->port();
}

std::string http_server::url() const {
  return core_->url();
}

void http_server::renew_certificate() {
  core_->renew_certificate();
}

void http_server::stop() {
  core_->stop();
}

} // namespace tertulia
