// SPDX-License-Identifier: BSD-3-Clause

#include "certificates.hpp"

#include <tertulia/status.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "interrupts.hpp"
#include "tool_failure.hpp"
#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tertulia::tool {

namespace fs = std::filesystem;

using namespace std::chrono_literals;

namespace {

constexpr auto authority_lifetime = 24h * 3650;
constexpr auto node_lifetime = 24h * 730;
// Tolerates clocks that differ between nodes.
constexpr auto backdated_by = 1h;

constexpr auto authority_name = "authority";

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* x) const noexcept {
    Free(x);
  }
};

using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, freed_by<X509_free>>;
using bio_ptr = std::unique_ptr<BIO, freed_by<BIO_free_all>>;
using number_ptr = std::unique_ptr<BIGNUM, freed_by<BN_free>>;
using extension_ptr
  = std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>>;

[[noreturn]] void fail_in_openssl(const std::string& doing) {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  throw failure{status_error{errc::internal,
                             fmt::format("cannot {}: {}", doing, text.data())}};
}

void check(bool is_done, const char* doing) {
  if (!is_done)
    fail_in_openssl(doing);
}

// -- files --------------------------------------------------------------------

/// A newly created file, removed by the destructor unless it is kept.
class new_file {
public:
  new_file(fs::path path, mode_t mode)
    : path_(std::move(path)), handle_(create(path_, mode)),
      remove_([this] { ::unlink(path_.c_str()); }) {}

  new_file(const new_file&) = delete;
  new_file& operator=(const new_file&) = delete;

  ~new_file() {
    if (handle_ < 0)
      return;
    ::close(handle_);
    ::unlink(path_.c_str());
  }

  void write(std::string_view text) {
    while (!text.empty()) {
      const auto n = ::write(handle_, text.data(), text.size());
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        reject_file(path_, errno);
      text.remove_prefix(static_cast<std::size_t>(n));
    }
    if (::fsync(handle_) != 0)
      reject_file(path_, errno);
  }

  void keep() noexcept {
    ::close(std::exchange(handle_, -1));
  }

private:
  static int create(const fs::path& path, mode_t mode) {
    const auto result = ::open(
      path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (result < 0 && errno == EEXIST)
      throw failure{
        status_error{errc::already_exists,
                     fmt::format("{} already exists", path.string())},
        "No file is ever overwritten here: remove it first to make "
        "another one."};
    if (result < 0)
      reject_file(path, errno);
    ::fchmod(result, mode); // independent of the umask
    return result;
  }

  fs::path path_;
  int handle_;
  on_interrupt remove_;
};

/// Refuses a folder in which another user could replace the authority.
void expect_own_folder(const fs::path& folder) {
  struct stat there {};
  if (::stat(folder.c_str(), &there) != 0) {
    if (errno == ENOENT)
      return; // a missing folder is empty
    reject_file(folder, errno);
  }
  if (!S_ISDIR(there.st_mode))
    reject_file(folder, ENOTDIR);
  if (there.st_uid != ::geteuid() || (there.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    throw failure{
      status_error{errc::failed_precondition,
                   fmt::format("other users can write to {}", folder.string())},
      "A user who can replace the authority can issue certificates that all "
      "nodes trust: use a folder of your own with mode 700."};
}

certificate_files files_of(const fs::path& folder, const std::string& name) {
  return {folder / (name + ".crt"), folder / (name + ".key")};
}

template <class Write>
std::string pem_of(Write write) {
  const bio_ptr to{BIO_new(BIO_s_mem())};
  check(to && write(to.get()) == 1, "write PEM");
  char* data = nullptr;
  const auto size = BIO_get_mem_data(to.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

void write_pair(const certificate_files& to, EVP_PKEY* key, X509* certificate) {
  // Either both files are created, or neither.
  new_file key_file{to.key, 0600};
  new_file certificate_file{to.certificate, 0644};
  key_file.write(pem_of([&](BIO* x) {
    return PEM_write_bio_PrivateKey(x, key, nullptr, nullptr, 0, nullptr,
                                    nullptr);
  }));
  certificate_file.write(
    pem_of([&](BIO* x) { return PEM_write_bio_X509(x, certificate); }));
  key_file.keep();
  certificate_file.keep();
}

bio_ptr open_to_read(const fs::path& file) {
  bio_ptr result{BIO_new_file(file.c_str(), "r")};
  if (result)
    return result;
  const auto error = errno;
  ERR_clear_error();
  if (error == ENOENT)
    throw failure{status_error{errc::not_found,
                               fmt::format("there is no {}", file.string())},
                  fmt::format("Make an authority first: tertulia pki init {}",
                              file.parent_path().string())};
  reject_file(file, error);
}

[[noreturn]] void fail_to_read(const fs::path& file) {
  ERR_clear_error();
  throw failure{status_error{
    errc::data_loss,
    fmt::format("{} is damaged, or not a file of this kind", file.string())}};
}

/// Supplies no pass phrase, so that OpenSSL does not prompt for one.
int no_password(char*, int, int, void*) {
  return -1;
}

// -- certificates -------------------------------------------------------------

key_ptr make_key() {
  key_ptr result{EVP_EC_gen("P-256")};
  check(result != nullptr, "make a key");
  return result;
}

void add_extension(X509* to, X509* issuer, int id, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  const extension_ptr x{X509V3_EXT_conf_nid(nullptr, &context, id, value)};
  check(x && X509_add_ext(to, x.get(), -1) == 1, "make a certificate");
}

/// Creates a certificate without extensions and signature.
certificate_ptr start_certificate(const std::string& name, EVP_PKEY* key,
                                  std::time_t expires_at) {
  constexpr auto doing = "make a certificate";
  certificate_ptr result{X509_new()};
  const number_ptr serial{BN_new()};
  auto* x = result.get();
  check(x != nullptr && serial != nullptr, doing);
  // Random, because certificates with equal serial numbers are rejected as
  // duplicates.
  check(BN_rand(serial.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1
          && BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(x))
               != nullptr,
        doing);
  const auto now = std::time(nullptr);
  const auto early = std::chrono::seconds{backdated_by}.count();
  check(X509_set_version(x, X509_VERSION_3) == 1
          && ASN1_TIME_set(X509_getm_notBefore(x), now - early) != nullptr
          && ASN1_TIME_set(X509_getm_notAfter(x), expires_at) != nullptr
          && X509_set_pubkey(x, key) == 1
          && X509_NAME_add_entry_by_txt(
               X509_get_subject_name(x), "CN", MBSTRING_ASC,
               reinterpret_cast<const unsigned char*>(name.data()),
               static_cast<int>(name.size()), -1, 0)
               == 1,
        doing);
  return result;
}

std::time_t in(std::chrono::seconds x) {
  return std::time(nullptr) + x.count();
}

std::time_t end_of(const X509* x) {
  std::tm parts{};
  check(ASN1_TIME_to_tm(X509_get0_notAfter(x), &parts) == 1,
        "read the end of the authority");
  return ::timegm(&parts);
}

void check_name(const std::string& name) {
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9');
  };
  const auto is_good = [&](char c) {
    return is_alphanumeric(c) || c == '.' || c == '_' || c == '-';
  };
  if (name.empty() || name.size() > 64 || !is_alphanumeric(name.front())
      || !std::all_of(name.begin(), name.end(), is_good))
    reject_usage(fmt::format("\"{}\" is not a name for a certificate", name),
                 "1 to 64 letters, digits, dots, underscores and hyphens, of "
                 "which the first is a letter or a digit.");
  if (name == authority_name)
    reject_usage("the name \"authority\" is reserved");
}

} // namespace

certificate_files make_authority(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    reject_file(folder, errno);
  expect_own_folder(folder);
  auto result = files_of(folder, authority_name);
  result.expires_at = in(authority_lifetime);
  const auto key = make_key();
  const auto x
    = start_certificate("tertulia authority", key.get(), result.expires_at);
  check(X509_set_issuer_name(x.get(), X509_get_subject_name(x.get())) == 1,
        "make a certificate");
  add_extension(x.get(), x.get(), NID_basic_constraints,
                "critical,CA:TRUE,pathlen:0");
  add_extension(x.get(), x.get(), NID_key_usage,
                "critical,keyCertSign,cRLSign");
  add_extension(x.get(), x.get(), NID_subject_key_identifier, "hash");
  check(X509_sign(x.get(), key.get(), EVP_sha256()) > 0, "sign a certificate");
  write_pair(result, key.get(), x.get());
  return result;
}

certificate_files issue_certificate(const fs::path& folder,
                                    const std::string& name) {
  check_name(name);
  expect_own_folder(folder);
  const auto authority = files_of(folder, authority_name);
  const certificate_ptr issuer{PEM_read_bio_X509(
    open_to_read(authority.certificate).get(), nullptr, no_password, nullptr)};
  if (!issuer)
    fail_to_read(authority.certificate);
  const key_ptr issuer_key{PEM_read_bio_PrivateKey(
    open_to_read(authority.key).get(), nullptr, no_password, nullptr)};
  if (!issuer_key)
    fail_to_read(authority.key);
  if (X509_check_private_key(issuer.get(), issuer_key.get()) != 1) {
    ERR_clear_error();
    throw failure{status_error{errc::data_loss,
                               fmt::format("{} is not the key of {}",
                                           authority.key.string(),
                                           authority.certificate.string())}};
  }
  const auto last = end_of(issuer.get());
  if (last <= std::time(nullptr))
    throw failure{
      status_error{errc::failed_precondition,
                   fmt::format("{} has expired",
                               authority.certificate.string())},
      "Make a new authority in another folder, and new certificates."};
  auto result = files_of(folder, name);
  result.expires_at = std::min(in(node_lifetime), last);
  const auto key = make_key();
  const auto x = start_certificate(name, key.get(), result.expires_at);
  check(X509_set_issuer_name(x.get(), X509_get_subject_name(issuer.get())) == 1,
        "make a certificate");
  add_extension(x.get(), issuer.get(), NID_basic_constraints,
                "critical,CA:FALSE");
  add_extension(x.get(), issuer.get(), NID_key_usage,
                "critical,digitalSignature");
  add_extension(x.get(), issuer.get(), NID_ext_key_usage,
                "serverAuth,clientAuth");
  add_extension(x.get(), issuer.get(), NID_subject_key_identifier, "hash");
  add_extension(x.get(), issuer.get(), NID_authority_key_identifier,
                "keyid:always");
  check(X509_sign(x.get(), issuer_key.get(), EVP_sha256()) > 0,
        "sign a certificate");
  write_pair(result, key.get(), x.get());
  return result;
}

} // namespace tertulia::tool
