// SPDX-License-Identifier: BSD-3-Clause

// Authority and certificates that are made by `tertulia pki`.

#include <tertulia/json.hpp>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/scratch.hpp"
#include "support/tool_process.hpp"
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace tertulia::test::tool_pki_tests {

namespace {

struct tool_pki : ::testing::Test {
  static tool_result run(strings arguments) {
    return run_process(joined({TERTULIA_TOOL, "pki"}, arguments));
  }

  tool_result init() const {
    return run({"init", there.string()});
  }

  tool_result issue(const std::string& name = "server") const {
    return run({"issue", there.string(), name});
  }

  /// Returns the exit code of a command of OpenSSL itself.
  static int openssl(strings arguments) {
    return run_process(joined({"openssl"}, arguments)).code;
  }

  [[nodiscard]] std::string at(const char* name) const {
    return (there / name).string();
  }

  [[nodiscard]] static std::string content(const std::string& file) {
    std::ifstream from{file};
    return {std::istreambuf_iterator<char>{from}, {}};
  }

  static unsigned mode(const std::string& file) {
    struct stat x {};
    return ::stat(file.c_str(), &x) == 0 ? x.st_mode & 0777u : 0u;
  }

  scratch folder;
  const std::filesystem::path there = folder / "ca";
};

} // namespace

TEST_F(tool_pki, makes_an_authority_whose_keys_only_the_user_can_read) {
  ASSERT_EQ(init().code, 0);
  ASSERT_EQ(issue().code, 0);
  EXPECT_EQ(mode(there.string()), 0700u);
  EXPECT_EQ(mode(at("authority.key")), 0600u);
  EXPECT_EQ(mode(at("server.key")), 0600u);
  EXPECT_EQ(mode(at("server.crt")), 0644u);
}

TEST_F(tool_pki, issues_certificates_for_both_sides_of_a_connection) {
  init();
  run({"issue", there.string(), "node-1.example_com"});
  for (const auto* purpose : {"sslserver", "sslclient"})
    EXPECT_EQ(openssl({"verify", "-x509_strict", "-CAfile", at("authority.crt"),
                       "-purpose", purpose, at("node-1.example_com.crt")}),
              0);
  // The certificate expires after two years.
  const auto verify_in = [&](int days) {
    const auto when = std::time(nullptr) + std::time_t{days} * 24 * 3600;
    return openssl({"verify", "-attime", std::to_string(when), "-CAfile",
                    at("authority.crt"), at("node-1.example_com.crt")});
  };
  EXPECT_EQ(verify_in(729), 0);
  EXPECT_NE(verify_in(731), 0);
}

TEST_F(tool_pki, issues_no_certificate_that_can_issue_others) {
  init();
  issue();
  const auto text = run_process({"openssl", "x509", "-in", at("server.crt"),
                                 "-noout", "-text"})
                      .out;
  EXPECT_TRUE(has(text, "CA:FALSE"));
  EXPECT_FALSE(has(text, "Certificate Sign"));
}

TEST_F(tool_pki, overwrites_nothing) {
  init();
  issue();
  const auto before = content(at("authority.key")) + content(at("server.key"));
  EXPECT_TRUE(init().failed(1, "already exists"));
  EXPECT_EQ(issue().code, 1);
  EXPECT_EQ(content(at("authority.key")) + content(at("server.key")), before);
  // A refusal because of one existing file must not create the other file.
  std::filesystem::remove(at("server.key"));
  EXPECT_EQ(issue().code, 1);
  EXPECT_FALSE(std::filesystem::exists(at("server.key")));
}

TEST_F(tool_pki, refuses_names_that_are_paths_or_options) {
  init();
  for (const auto* name : {"", "../server", "a/b", ".hidden", "a b",
                           "authority", "-x", "caf\xc3\xa9"}) {
    const auto result = run({"issue", there.string(), "--", name});
    EXPECT_EQ(result.code, 2) << name;
  }
  EXPECT_EQ(run({"issue", there.string(), std::string(65, 'a')}).code, 2);
}

TEST_F(tool_pki, trusts_no_folder_that_others_can_write) {
  init();
  for (const auto mode : {0720, 0702}) {
    ASSERT_EQ(::chmod(there.c_str(), static_cast<mode_t>(mode)), 0);
    for (const auto& x : {issue(), init()}) {
      EXPECT_TRUE(x.failed(1, "other users can write to"));
    }
  }
  ASSERT_EQ(::chmod(there.c_str(), 0755), 0);
  EXPECT_EQ(issue().code, 0);
}

TEST_F(tool_pki, says_what_is_missing_or_damaged) {
  EXPECT_TRUE(issue().failed(3, "tertulia pki init"));
  init();
  std::ofstream{at("authority.crt")} << "nothing";
  EXPECT_EQ(issue().code, 4);
}

TEST_F(tool_pki, refuses_a_key_of_another_authority) {
  init();
  const auto other = folder / "other";
  run({"init", other.string()});
  std::filesystem::copy_file(other / "authority.key", at("authority.key"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(issue().code, 4);
  EXPECT_FALSE(std::filesystem::exists(at("server.crt")));
}

TEST_F(tool_pki, tells_programs_what_it_has_made) {
  const auto made
    = parse_json<json>(run({"--json", "init", there.string()}).out);
  EXPECT_EQ(made.at("certificate"), at("authority.crt"));
  EXPECT_EQ(made.at("key"), at("authority.key"));
  EXPECT_TRUE(made.at("expiresAt").is_string());
}

} // namespace tertulia::test::tool_pki_tests
