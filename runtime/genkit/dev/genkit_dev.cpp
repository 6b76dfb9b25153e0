// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/genkit_dev.hpp>
#include <tertulia/status_error.hpp>

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>

#include "reflection.hpp"
#include "reflection_link.hpp"
#include "reflection_server.hpp"
#include "telemetry.hpp"
#include "web_address.hpp"
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

namespace tertulia {

namespace {

/// Time for which a span waits before it is sent.
constexpr auto telemetry_interval = std::chrono::milliseconds{200};

std::string value_of(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

web::net::awaitable<void>
send_spans(std::shared_ptr<web::genkit_telemetry> from) {
  web::net::steady_timer timer{co_await web::net::this_coro::executor};
  for (;;) {
    timer.expires_after(telemetry_interval);
    co_await timer.async_wait(web::as_result);
    co_await from->flush();
  }
}

} // namespace

genkit_dev_options genkit_dev_options::from_environment() {
  genkit_dev_options result;
  result.is_active = value_of("GENKIT_ENV") == "dev";
  result.command_line = value_of("GENKIT_REFLECTION_V2_SERVER");
  if (auto host = value_of("GENKIT_REFLECTION_HOST"); !host.empty())
    result.address = host == "localhost" ? "127.0.0.1" : std::move(host);
  result.telemetry_server = value_of("GENKIT_TELEMETRY_SERVER");
  result.sends_starts = value_of("GENKIT_ENABLE_REALTIME_TELEMETRY") == "true";
  return result;
}

/// Parts of an active one.
class genkit_dev::core {
public:
  core(runtime& rt, const genkit_dev_options& options)
    : telemetry_(std::make_shared<web::genkit_telemetry>(
      options.telemetry_server, options.sends_starts)),
      listening_(rt.traces().listen(telemetry_)), reflection_(rt, telemetry_) {
    if (options.command_line.empty()) {
      server_ = web::reflection_server::make(reflection_, rt, options.address,
                                             options.folder, options.name);
    } else {
      auto to = web::web_address::of(options.command_line);
      if (!to)
        throw status_error{
          errc::invalid_argument,
          fmt::format("command_line: {} is not the address of a WebSocket",
                      options.command_line)};
      web::net::co_spawn(
        io_, web::serve_command_line(reflection_, std::move(*to), options.name),
        web::net::detached);
    }
    web::net::co_spawn(io_, send_spans(telemetry_), web::net::detached);
    thread_ = std::jthread{[this] { io_.run(); }};
  }

  core(const core&) = delete;
  core& operator=(const core&) = delete;

  ~core() {
    io_.stop();
  }

  [[nodiscard]] std::string url() const {
    return server_ ? server_->url() : std::string{};
  }

private:
  std::shared_ptr<web::genkit_telemetry> telemetry_;
  tracer::subscription listening_;
  web::reflection reflection_;
  std::unique_ptr<web::reflection_server> server_;
  web::net::io_context io_{1}; // its coroutines use the members above
  std::jthread thread_;
};

genkit_dev::genkit_dev(runtime& rt, genkit_dev_options options)
  : core_(options.is_active ? std::make_unique<core>(rt, options) : nullptr) {}

genkit_dev::~genkit_dev() = default;

bool genkit_dev::is_active() const noexcept {
  return core_ != nullptr;
}

std::string genkit_dev::url() const {
  return core_ ? core_->url() : std::string{};
}

} // namespace tertulia
