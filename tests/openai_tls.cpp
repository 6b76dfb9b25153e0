// SPDX-License-Identifier: BSD-3-Clause

#include <fstream>

#include "support/openai_client.hpp"
#include "support/scratch.hpp"
#include "support/tls_server.hpp"

using namespace std::literals;

namespace tertulia::test::openai_tls_tests {

namespace {

const auto tls_hello = "HTTP/1.1 200 OK\r\nContent-Length: 68\r\n"
                       "Content-Type: application/json\r\n\r\n"
                       R"({"choices":[{"message":{"content":"Hello"},)"
                       R"("finish_reason":"stop"}]})"s;

struct openai_tls : threaded {
  openai_tls() {
    forget_openai_environment();
    options.model = "m";
    options.api_key = "sk-secret";
    options.max_retries = 0;
    options.base_url = "https://localhost:" + std::to_string(server.port());
  }

  /// Has the certificate of the server trusted.
  void trust() {
    const auto file = folder / "ca.pem";
    std::ofstream{file} << proof.public_text;
    options.ca_file = file;
  }

  ai::model_response ask() {
    const auto model = ai::define_openai_model(*rt, "m", options);
    const with_init init{
      ai::generate_request{ai::message_log{{ai::user_text("Hi")}}}};
    return model.action().stream_bidi(init).output(patience);
  }

  scratch folder;
  const certificate proof{"DNS:localhost"};
  tls_server server{proof, tls_hello};
  ai::openai_options options;
};

} // namespace

TEST_F(openai_tls, a_server_whose_certificate_is_trusted_is_heard) {
  trust();
  EXPECT_EQ(ask().text(), "Hello");
}

TEST_F(openai_tls, a_certificate_that_nobody_trusts_is_refused) {
  const auto error = error_of([&] { ask(); });
  EXPECT_EQ(error.code(), errc::permission_denied);
  EXPECT_NE(error.message().find("not trusted"), std::string::npos)
    << error.message();
}

TEST_F(openai_tls, the_certificate_of_another_host_is_refused) {
  trust();
  options.base_url = "https://127.0.0.1:" + std::to_string(server.port());
  const auto error = error_of([&] { ask(); });
  EXPECT_EQ(error.code(), errc::permission_denied);
  EXPECT_NE(error.message().find("mismatch"), std::string::npos)
    << error.message();
}

} // namespace tertulia::test::openai_tls_tests
