// SPDX-License-Identifier: BSD-3-Clause

// Tokens of a login server, good ones and those that only look so.

#include <tertulia/json.hpp>
#include <tertulia/jwt_verifier.hpp>
#include <tertulia/status_error.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "support/refusal.hpp"
#include "support/scratch.hpp"
#include <cjose/cjose.h>
#include <gtest/gtest.h>

namespace tertulia::test::jwt_tests {

namespace {

using key_ptr = std::unique_ptr<cjose_jwk_t, bool (*)(cjose_jwk_t*)>;

key_ptr own(cjose_jwk_t* x) {
  EXPECT_NE(x, nullptr);
  return {x, &cjose_jwk_release};
}

key_ptr rsa_key(const char* id, std::size_t bits = 2'048) {
  const std::uint8_t exponent[] = {1, 0, 1};
  auto result = own(
    cjose_jwk_create_RSA_random(bits, exponent, sizeof exponent, nullptr));
  cjose_jwk_set_kid(result.get(), id, std::string{id}.size(), nullptr);
  return result;
}

key_ptr ec_key(const char* id, cjose_jwk_ec_curve curve = CJOSE_JWK_EC_P_256) {
  auto result = own(cjose_jwk_create_EC_random(curve, nullptr));
  cjose_jwk_set_kid(result.get(), id, std::string{id}.size(), nullptr);
  return result;
}

/// Returns a text that a function of the library has allocated.
std::string taken(char* text) {
  std::string result{text};
  std::free(text);
  return result;
}

json document_of(const key_ptr& key, bool with_private = false) {
  return json::parse(
    taken(cjose_jwk_to_json(key.get(), with_private, nullptr)));
}

std::string encoded(const std::string& text) {
  char* result = nullptr;
  std::size_t size = 0;
  EXPECT_TRUE(
    cjose_base64url_encode(reinterpret_cast<const std::uint8_t*>(text.data()),
                           text.size(), &result, &size, nullptr));
  std::string copy{result, size};
  std::free(result);
  return copy;
}

double now() {
  return std::chrono::duration<double>(
           std::chrono::system_clock::now().time_since_epoch())
    .count();
}

json good_claims() {
  return {{"iss", "https://login.example.org"},
          {"aud", "chat"},
          {"sub", "ann"},
          {"exp", now() + 300}};
}

std::string sign(const key_ptr& key, const json& header, const json& claims) {
  const std::unique_ptr<cjose_header_t, decltype(&cjose_header_release)> head{
    cjose_header_new(nullptr), &cjose_header_release};
  for (const auto& [name, value] : header.items())
    EXPECT_TRUE(cjose_header_set(head.get(), name.c_str(),
                                 value.get<std::string>().c_str(), nullptr));
  const auto text = claims.dump();
  const std::unique_ptr<cjose_jws_t, decltype(&cjose_jws_release)> jws{
    cjose_jws_sign(key.get(), head.get(),
                   reinterpret_cast<const std::uint8_t*>(text.data()),
                   text.size(), nullptr),
    &cjose_jws_release};
  if (!jws)
    return {};
  const char* result = nullptr;
  EXPECT_TRUE(cjose_jws_export(jws.get(), &result, nullptr));
  return result;
}

struct jwt : ::testing::Test {
  jwt() {
    write({document_of(rsa), document_of(ec)});
  }

  void write(const json& keys) const {
    std::ofstream{file()} << json{{"keys", keys}};
  }

  [[nodiscard]] std::string file() const {
    return (folder / "keys.json").string();
  }

  [[nodiscard]] jwt_options options() const {
    return {.keys = file(),
            .issuer = "https://login.example.org",
            .audience = "chat"};
  }

  /// Returns the caller of a token with changed claims; `-` for none.
  [[nodiscard]] std::string caller(const std::function<void(json&)>& change
                                   = [](json&) {}) const {
    auto claims = good_claims();
    change(claims);
    const jwt_verifier verify{options()};
    return verify(sign(rsa, {{"alg", "RS256"}, {"kid", "r"}}, claims))
      .value_or("-");
  }

  [[nodiscard]] std::string of(const std::string& token) const {
    return jwt_verifier{options()}(token).value_or("-");
  }

  key_ptr rsa = rsa_key("r");
  key_ptr ec = ec_key("e");
  scratch folder;
};

} // namespace

TEST_F(jwt, names_its_caller) {
  EXPECT_EQ(caller(), "ann");
  EXPECT_EQ(of(sign(ec, {{"alg", "ES256"}, {"kid", "e"}}, good_claims())),
            "ann");
  EXPECT_EQ(of(sign(ec, {{"alg", "ES256"}}, good_claims())), "ann")
    << "the only key of the algorithm";
  EXPECT_EQ(caller([](json& x) { x["aud"] = {"mail", "chat"}; }), "ann");
  auto other = options();
  other.caller = "email";
  auto claims = good_claims();
  claims["email"] = "ann@example.org";
  const auto token = sign(rsa, {{"alg", "RS256"}, {"kid", "r"}}, claims);
  EXPECT_EQ(jwt_verifier{other}(token), "ann@example.org");
}

TEST_F(jwt, is_good_for_a_time_and_a_purpose) {
  EXPECT_EQ(caller([](json& x) { x["exp"] = now() - 50; }), "ann")
    << "clocks differ";
  EXPECT_EQ(caller([](json& x) { x["exp"] = now() - 70; }), "-");
  EXPECT_EQ(caller([](json& x) { x["exp"] = std::to_string(now() + 9); }), "-");
  EXPECT_EQ(caller([](json& x) { x.erase("exp"); }), "-");
  EXPECT_EQ(caller([](json& x) { x["nbf"] = now() + 50; }), "ann");
  EXPECT_EQ(caller([](json& x) { x["nbf"] = now() + 70; }), "-");
  EXPECT_EQ(caller([](json& x) { x["nbf"] = "soon"; }), "-");
  EXPECT_EQ(caller([](json& x) { x["iss"] = "https://evil.example"; }), "-");
  EXPECT_EQ(caller([](json& x) { x.erase("iss"); }), "-");
  EXPECT_EQ(caller([](json& x) { x["aud"] = "mail"; }), "-");
  EXPECT_EQ(caller([](json& x) { x["aud"] = {"mail"}; }), "-");
  EXPECT_EQ(caller([](json& x) { x.erase("aud"); }), "-");
  EXPECT_EQ(caller([](json& x) { x["sub"] = 7; }), "-");
  EXPECT_EQ(caller([](json& x) { x.erase("sub"); }), "-");
  EXPECT_EQ(caller([](json& x) { x = json::array(); }), "-");
}

TEST_F(jwt, is_signed_by_a_known_key) {
  const json header{{"alg", "RS256"}, {"kid", "r"}};
  EXPECT_EQ(of(sign(rsa_key("r"), header, good_claims())), "-")
    << "another key of the name";
  EXPECT_EQ(of(sign(rsa, {{"alg", "RS256"}, {"kid", "x"}}, good_claims())),
            "-");
  EXPECT_EQ(of(sign(rsa, {{"alg", "RS256"}, {"kid", "e"}}, good_claims())),
            "-");
  auto token = sign(rsa, header, good_claims());
  auto claims = good_claims();
  claims["sub"] = "bob";
  const auto first = token.find('.');
  const auto last = token.rfind('.');
  EXPECT_EQ(of(token.substr(0, first + 1) + encoded(claims.dump())
               + token.substr(last)),
            "-")
    << "the claims were changed";
  token[last + 10] = token[last + 10] == 'A' ? 'B' : 'A';
  EXPECT_EQ(of(token), "-");
}

TEST_F(jwt, is_signed_by_a_known_algorithm) {
  const auto body = '.' + encoded(good_claims().dump()) + '.';
  for (const auto* name : {"none", "None", "NONE", ""})
    for (const auto* signature : {"", "AAAA"})
      EXPECT_EQ(of(encoded(json{{"alg", name}}.dump()) + body + signature), "-")
        << name;
  // A program that lets the token choose takes the public key for a secret.
  for (const auto& secret : {document_of(rsa).dump(), document_of(ec).dump()}) {
    auto symmetric = own(cjose_jwk_create_oct_spec(
      reinterpret_cast<const std::uint8_t*>(secret.data()), secret.size(),
      nullptr));
    for (const auto* id : {"r", "e"})
      EXPECT_EQ(
        of(sign(symmetric, {{"alg", "HS256"}, {"kid", id}}, good_claims())),
        "-");
  }
  for (const auto* name : {"RS384", "RS512", "PS256"})
    EXPECT_EQ(of(sign(rsa, {{"alg", name}, {"kid", "r"}}, good_claims())), "-")
      << name;
  // The key of another algorithm.
  auto token = sign(rsa, {{"alg", "RS256"}, {"kid", "r"}}, good_claims());
  const auto rest = token.substr(token.find('.'));
  EXPECT_EQ(of(encoded(R"({"alg":"ES256","kid":"r"})") + rest), "-");
  EXPECT_EQ(of(encoded(R"({"alg":"ES256","kid":"e"})") + rest), "-");
  EXPECT_EQ(of(encoded(R"({"alg":"RS256","kid":"e"})") + rest), "-");
  EXPECT_EQ(of(sign(rsa, {{"alg", "RS256"}, {"kid", "r"}, {"crit", "exp"}},
                    good_claims())),
            "-");
}

TEST_F(jwt, is_no_other_text) {
  for (const auto* text :
       {"", ".", "..", "...", "a.b.c", "e30.e30.", "e30", "\xff.\xff.\xff"})
    EXPECT_EQ(of(text), "-") << text;
  EXPECT_EQ(of(std::string(20'000, 'a') + ".a.a"), "-");
  EXPECT_EQ(of(encoded("[]") + ".e30.e30"), "-");
  EXPECT_EQ(of(encoded(R"({"alg":7})") + ".e30.e30"), "-");
  EXPECT_EQ(of(encoded(R"({"alg":"RS256","kid":7})") + ".e30.e30"), "-");
}

TEST_F(jwt, is_not_good_when_its_key_is_gone) {
  jwt_verifier verify{options()};
  const auto copy = verify;
  const auto token = sign(ec, {{"alg", "ES256"}, {"kid", "e"}}, good_claims());
  EXPECT_TRUE(copy(token));
  write(json::array({document_of(rsa)}));
  EXPECT_TRUE(copy(token));
  verify.renew();
  EXPECT_FALSE(copy(token));
  std::filesystem::remove(file());
  EXPECT_EQ(code_from([&] { verify.renew(); }), errc::not_found);
  std::filesystem::create_directory(file());
  EXPECT_EQ(code_from([&] { verify.renew(); }), errc::failed_precondition);
  EXPECT_TRUE(copy(sign(rsa, {{"alg", "RS256"}, {"kid", "r"}}, good_claims())))
    << "the keys stay";
}

TEST_F(jwt, keys_are_checked) {
  const auto code = [&](const json& keys) {
    write(keys);
    return code_from([&] { jwt_verifier{options()}; });
  };
  EXPECT_EQ(code(json::array()), errc::invalid_argument);
  EXPECT_EQ(code({document_of(rsa, true)}), errc::invalid_argument)
    << "private";
  EXPECT_EQ(code({document_of(rsa_key("s", 1'024))}), errc::invalid_argument)
    << "short";
  EXPECT_EQ(code({json{{"kty", "RSA"}, {"n", "?"}, {"e", "AQAB"}}}),
            errc::invalid_argument);
  EXPECT_EQ(code({json{{"kty", "oct"}, {"k", "AAAA"}}}),
            errc::invalid_argument);
  EXPECT_EQ(code({document_of(ec_key("b", CJOSE_JWK_EC_P_384))}),
            errc::invalid_argument);
  auto encrypting = document_of(rsa);
  encrypting["use"] = "enc";
  EXPECT_EQ(code({encrypting}), errc::invalid_argument);
  EXPECT_EQ(code({encrypting, document_of(ec)}), errc::ok)
    << "others may stand beside it";
  std::ofstream{file()} << "[]";
  EXPECT_EQ(code_from([&] { jwt_verifier{options()}; }),
            errc::invalid_argument);
  EXPECT_EQ(code_from([&] {
              jwt_verifier{
                {.keys = "/nowhere", .issuer = "a", .audience = "b"}};
            }),
            errc::not_found);
  write({document_of(ec)});
  for (const auto member :
       {&jwt_options::issuer, &jwt_options::audience, &jwt_options::caller}) {
    auto wrong = options();
    (wrong.*member).clear();
    EXPECT_EQ(code_from([&] { jwt_verifier{wrong}; }), errc::invalid_argument);
  }
}

} // namespace tertulia::test::jwt_tests
