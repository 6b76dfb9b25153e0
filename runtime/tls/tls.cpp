// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/descriptor.hpp>
#include <tertulia/detail/node_transport.hpp>
#include <tertulia/status.hpp>
#include <tertulia/tls.hpp>

#include <caf/actor_system_config.hpp>
#include <caf/io/doorman.hpp>
#include <caf/io/middleman.hpp>
#include <caf/io/network/acceptor_impl.hpp>
#include <caf/io/network/default_multiplexer.hpp>
#include <caf/io/network/scribe_impl.hpp>
#include <caf/send.hpp>

#include <chrono>
#include <future>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "name_search.hpp"
#include "tls_port.hpp"
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/beast/core/error.hpp>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

// Bridge between CAF's network module, which only uses plain sockets of this
// process, and other nodes, which only use TLS.

namespace tertulia::network {

namespace asio = boost::asio;
namespace io = caf::io;

using boost::system::error_code;
using boost::system::system_error;

namespace {

// -- CAF's ends ---------------------------------------------------------------

/// Shared owner of the thread and the port. As the first base it is destroyed
/// after the other one, which closes the socket whose end they wait for.
class share {
public:
  explicit share(std::shared_ptr<tls_thread> thread,
                 std::shared_ptr<tls_port> port = nullptr)
    : thread_(std::move(thread)), port_(std::move(port)) {}

  share(const share&) = delete;
  share& operator=(const share&) = delete;

  // NOLINTNEXTLINE(bugprone-exception-escape): only if there is no memory
  ~share() {
    if (port_)
      port_->stop();
  }

protected:
  std::shared_ptr<tls_thread> thread_;
  std::shared_ptr<tls_port> port_;
};

class plain_end final : private share, public io::network::scribe_impl {
public:
  plain_end(io::network::default_multiplexer& at, int socket,
            std::shared_ptr<tls_thread> thread)
    : share(std::move(thread)), io::network::scribe_impl(at, socket) {}
};

/// Acceptor policy that reads socket numbers instead of accepting connections.
struct arrivals {
  static bool try_accept(int& result, int from) {
    return ::recv(from, &result, sizeof result, 0) == sizeof result;
  }
};

class plain_door final : private share, public io::doorman {
public:
  plain_door(io::network::default_multiplexer& at, int socket,
             std::shared_ptr<tls_thread> thread, std::shared_ptr<tls_port> port)
    : share(std::move(thread), std::move(port)),
      io::doorman(io::network::accept_hdl_from_socket(socket)),
      acceptor_(at, socket) {}

  bool new_connection() override {
    auto& at = acceptor_.backend();
    const auto line = caf::make_counted<plain_end>(
      at, acceptor_.accepted_socket(), thread_); // closes it in any case
    if (detached())
      return false;
    const auto handle = line->hdl();
    parent()->add_scribe(line);
    return io::doorman::new_connection(&at, handle);
  }

  void launch() override {
    acceptor_.start(this);
  }

  void graceful_shutdown() override {
    acceptor_.graceful_shutdown();
    detach(&acceptor_.backend(), /*invoke_disconnect_message=*/false);
  }

  void add_to_loop() override {
    acceptor_.activate(this);
  }

  void remove_from_loop() override {
    acceptor_.passivate();
  }

  std::string addr() const override {
    return {};
  }

  std::uint16_t port() const override {
    return port_->port();
  }

private:
  io::network::acceptor_impl<arrivals> acceptor_;
};

io::network::default_multiplexer& multiplexer(caf::actor_system& system) {
  auto* result = dynamic_cast<io::network::default_multiplexer*>(
    &system.middleman().backend());
  if (result == nullptr)
    throw status_error{errc::failed_precondition,
                       "the network module has a backend of its own"};
  return *result;
}

// -- TLS ----------------------------------------------------------------------

std::shared_ptr<asio::ssl::context>
make_tls(const caf::actor_system_config& files) {
  auto result = std::make_shared<asio::ssl::context>(asio::ssl::context::tls);
  auto* native = result->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION);
  // TLS sessions are not resumed: each connection presents its certificate.
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(native, 0);
  const auto load = [](const std::string& file, error_code error) {
    if (error)
      throw status_error{errc::failed_precondition,
                         fmt::format("cannot use {}: {}", file,
                                     error.message())};
  };
  error_code error;
  result->use_certificate_chain_file(files.openssl_certificate, error);
  load(files.openssl_certificate, error);
  // Never prompt for the pass phrase of a key.
  result->set_password_callback(
    [](std::size_t, asio::ssl::context::password_purpose) {
      return std::string{};
    });
  result->use_private_key_file(files.openssl_key, asio::ssl::context::pem,
                               error);
  load(files.openssl_key, error);
  result->load_verify_file(files.openssl_cafile, error);
  load(files.openssl_cafile, error);
  result->set_verify_mode(asio::ssl::verify_peer
                          | asio::ssl::verify_fail_if_no_peer_cert);
  return result;
}

using time_point = std::chrono::steady_clock::time_point;

struct destination {
  std::string host;
  std::uint16_t port;
  std::shared_ptr<asio::ssl::context> tls;
  time_point until;

  [[nodiscard]] std::string name() const {
    return fmt::format("{}:{}", host, port);
  }
};

/// Returns whether the peer has refused the connection with a TLS alert.
bool is_alert(error_code x) {
  return x.category() == asio::error::get_ssl_category()
         && ERR_GET_REASON(static_cast<unsigned long>(x.value()))
              >= SSL_AD_REASON_OFFSET;
}

[[noreturn]] void fail_to_connect(const destination& to, error_code reason) {
  if (reason == boost::beast::error::timeout
      || reason == asio::error::timed_out)
    throw status_error{errc::deadline_exceeded,
                       fmt::format("no answer from {}", to.name())};
  if (is_alert(reason))
    throw status_error{errc::permission_denied,
                       fmt::format("{} refused the connection: {}", to.name(),
                                   reason.message())};
  if (reason.category() == asio::error::get_ssl_category())
    throw status_error{errc::unavailable,
                       fmt::format("{} has no TLS settings in common: {}",
                                   to.name(), reason.message())};
  throw status_error{errc::unavailable,
                     fmt::format("cannot connect to {}: {}", to.name(),
                                 reason.message())};
}

asio::awaitable<std::vector<asio::ip::tcp::endpoint>>
find_addresses(std::weak_ptr<asio::io_context> at, const destination& to) {
  std::vector<asio::ip::tcp::endpoint> result;
  error_code error;
  const auto address = asio::ip::make_address(to.host, error);
  if (!error) {
    result.emplace_back(address, to.port);
    co_return result;
  }
  name_search names{std::move(at), to.host, std::to_string(to.port)};
  result = co_await names.find(to.until);
  co_return result;
}

/// @returns the socket for CAF.
asio::awaitable<int> connect(std::weak_ptr<asio::io_context> at,
                             std::shared_ptr<const destination> to) {
  const auto executor = co_await asio::this_coro::executor;
  auto stream = std::make_unique<tls_stream>(boost::beast::tcp_stream{executor},
                                             *to->tls);
  auto& tcp = stream->next_layer();
  try {
    const auto found = co_await find_addresses(std::move(at), *to);
    tcp.expires_at(to->until);
    co_await tcp.async_connect(found, asio::use_awaitable);
  } catch (const system_error& x) {
    fail_to_connect(*to, x.code());
  }
  error_code error;
  co_await stream->async_handshake(asio::ssl::stream_base::client,
                                   asio::redirect_error(asio::use_awaitable,
                                                        error));
  if (const auto verdict = SSL_get_verify_result(stream->native_handle());
      error && verdict != X509_V_OK) {
    const auto text
      = fmt::format("the certificate of {} is not trusted: {}", to->name(),
                    X509_verify_cert_error_string(verdict));
    throw status_error{errc::permission_denied, text};
  }
  if (error)
    fail_to_connect(*to, error);
  const auto line = std::make_shared<tls_line>(std::move(stream));
  try {
    co_await line->receive_first();
    co_return line->start();
  } catch (const system_error& x) {
    fail_to_connect(*to, x.code());
  }
}

class tls_transport final : public detail::node_transport {
public:
  std::uint16_t publish(caf::actor_system& system,
                        const caf::strong_actor_ptr& what,
                        std::set<std::string> speaks, std::uint16_t port,
                        const std::string& address,
                        std::shared_ptr<spdlog::logger> log) const override {
    auto tls = make_tls(system.config());
    error_code error;
    const auto where = asio::ip::make_address(address, error);
    if (error)
      throw status_error{
        errc::invalid_argument,
        fmt::format("\"{}\" is not the number of an address, such as 127.0.0.1",
                    address)};
    auto thread = tls_thread::shared();
    std::shared_ptr<tls_port> listener;
    try {
      listener
        = std::make_shared<tls_port>(*thread, std::move(tls),
                                     asio::ip::tcp::endpoint{where, port},
                                     std::move(log));
    } catch (const system_error& x) {
      throw status_error{errc::unavailable,
                         fmt::format("cannot listen on {}:{}: {}", address,
                                     port, x.code().message())};
    }
    const auto result = listener->port();
    io::doorman_ptr door = caf::make_counted<plain_door>(
      multiplexer(system), listener->take_arrivals(), thread, listener);
    caf::anon_send(detail::node_broker(system), caf::publish_atom::value,
                   std::move(door), result, what, std::move(speaks));
    listener->start();
    return result;
  }

  io::scribe_ptr connect(caf::actor_system& system, const std::string& host,
                         std::uint16_t port, time_point until) const override {
    auto to = std::make_shared<const destination>(
      destination{host, port, make_tls(system.config()), until});
    const auto thread = tls_thread::shared();
    auto connected
      = asio::co_spawn(thread->context(),
                       network::connect(thread->weak_context(), std::move(to)),
                       asio::use_future);
    const int socket = connected.get();
    return caf::make_counted<plain_end>(multiplexer(system), socket, thread);
  }
};

} // namespace

} // namespace tertulia::network

namespace tertulia {

tls_files tls_files::of(const std::string& directory, const std::string& name) {
  const auto start = directory + '/';
  return {start + name + ".crt", start + name + ".key",
          start + "authority.crt"};
}

void add_network_to(caf::actor_system_config& cfg, const tls_files& files) {
  // The files are stored in CAF's own options; its OpenSSL module is not
  // loaded.
  cfg.openssl_certificate = files.certificate;
  cfg.openssl_key = files.key;
  cfg.openssl_cafile = files.authority;
  static const network::tls_transport encrypted;
  detail::add_network_module(cfg, &encrypted);
}

} // namespace tertulia
