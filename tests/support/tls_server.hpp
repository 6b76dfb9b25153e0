// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

namespace tertulia::test {

/// Key and self-signed certificate of a host.
class certificate {
public:
  /// @param names subject alternative names, such as `DNS:localhost`.
  /// @param until end of validity, from now on.
  explicit certificate(const std::string& names,
                       std::chrono::seconds until = std::chrono::hours{1}) {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key{
      EVP_RSA_gen(2048), &EVP_PKEY_free};
    const std::unique_ptr<X509, decltype(&X509_free)> x{X509_new(), &X509_free};
    if (!key || !x)
      throw std::runtime_error{"no certificate"};
    X509_set_version(x.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(x.get()), -7200);
    X509_gmtime_adj(X509_getm_notAfter(x.get()), until.count());
    X509_set_pubkey(x.get(), key.get());
    auto* name = X509_get_subject_name(x.get());
    const std::string text = "a test";
    X509_NAME_add_entry_by_txt(
      name, "CN", MBSTRING_ASC,
      reinterpret_cast<const unsigned char*>(text.data()),
      static_cast<int>(text.size()), -1, 0);
    X509_set_issuer_name(x.get(), name);
    auto* extension = X509V3_EXT_conf_nid(nullptr, nullptr,
                                          NID_subject_alt_name, names.c_str());
    X509_add_ext(x.get(), extension, -1);
    X509_EXTENSION_free(extension);
    X509_sign(x.get(), key.get(), EVP_sha256());
    public_text = text_of([&](BIO* to) { PEM_write_bio_X509(to, x.get()); });
    private_text = text_of([&](BIO* to) {
      PEM_write_bio_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr,
                               nullptr);
    });
  }

  std::string public_text;  ///< PEM
  std::string private_text; ///< PEM

private:
  template <class Write>
  static std::string text_of(Write write) {
    const std::unique_ptr<BIO, decltype(&BIO_free_all)> to{BIO_new(BIO_s_mem()),
                                                           &BIO_free_all};
    write(to.get());
    char* data = nullptr;
    const auto size = BIO_get_mem_data(to.get(), &data);
    return {data, static_cast<std::size_t>(size)};
  }
};

/// Server on a loopback port that sends the same answer to every client over
/// TLS.
class tls_server {
public:
  tls_server(const certificate& as, std::string answer)
    : tls_(boost::asio::ssl::context::tls_server), answer_(std::move(answer)) {
    using boost::asio::buffer;
    tls_.use_certificate(buffer(as.public_text),
                         boost::asio::ssl::context::pem);
    tls_.use_private_key(buffer(as.private_text),
                         boost::asio::ssl::context::pem);
    thread_ = std::thread{[this] { run(); }};
  }

  tls_server(const tls_server&) = delete;
  tls_server& operator=(const tls_server&) = delete;

  ~tls_server() {
    {
      const std::lock_guard guard{mutex_};
      stopping_ = true;
      if (client_ >= 0)
        ::shutdown(client_, SHUT_RDWR);
    }
    // Wakes the thread from its wait for a client.
    boost::asio::io_context context;
    boost::asio::ip::tcp::socket last{context};
    boost::system::error_code ignored;
    last.connect(acceptor_.local_endpoint(), ignored);
    last.close(ignored);
    thread_.join();
  }

  [[nodiscard]] std::uint16_t port() const {
    return acceptor_.local_endpoint().port();
  }

  /// Returns the number of clients whose handshake has succeeded.
  [[nodiscard]] int clients() const noexcept {
    return clients_;
  }

private:
  using tcp = boost::asio::ip::tcp;

  void run() {
    while (true) {
      boost::system::error_code error;
      boost::asio::ssl::stream<tcp::socket> line{context_, tls_};
      acceptor_.accept(line.next_layer(), error);
      if (!set_client(error ? -1 : line.next_layer().native_handle()))
        return;
      if (!error)
        line.handshake(boost::asio::ssl::stream_base::server, error);
      if (!error)
        ++clients_;
      std::string asked;
      while (!error) { // until the client closes the connection
        const auto size
          = boost::asio::read_until(line, boost::asio::dynamic_buffer(asked),
                                    "\"stream_options\"", error);
        asked.erase(0, size);
        if (!error)
          boost::asio::write(line, boost::asio::buffer(answer_), error);
      }
      set_client(-1); // before its number can be reused
    }
  }

  /// Sets the socket of the current client.
  /// @returns false if the server has to stop.
  bool set_client(int socket) {
    const std::lock_guard guard{mutex_};
    client_ = socket;
    return !stopping_;
  }

  boost::asio::ssl::context tls_;
  std::string answer_;
  boost::asio::io_context context_;
  tcp::acceptor acceptor_{
    context_, tcp::endpoint{boost::asio::ip::address_v4::loopback(), 0}};
  std::mutex mutex_;
  bool stopping_ = false;
  int client_ = -1; // socket of the current client
  std::atomic<int> clients_ = 0;
  std::thread thread_;
};

} // namespace tertulia::test
