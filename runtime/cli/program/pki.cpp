// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/timestamp.hpp>

#include <chrono>
#include <string>

#include "certificates.hpp"
#include "commands.hpp"
#include "output/shown_text.hpp"
#include "output/units.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

struct pki_options {
  std::string folder;
  std::string name; // of a certificate
};

void print_files(tool& t, const certificate_files& files,
                 const std::string& more) {
  const caf::timestamp end{std::chrono::seconds{files.expires_at}};
  t.print(document{{"certificate", as_utf8(files.certificate.string())},
                   {"key", as_utf8(files.key.string())},
                   {"expiresAt", to_rfc3339(end)}},
          fmt::format("Made {} and {}, valid until {}.",
                      shown(files.certificate.string()),
                      shown(files.key.string()), local_time(end)));
  if (!t.as_json())
    t.out().line(more);
}

exit_code init(tool& t, const pki_options& o) {
  print_files(t, make_authority(o.folder),
              "The holder of the key can issue a certificate to anyone: keep "
              "it where certificates are issued, and nowhere else.");
  return exit_code::fine;
}

exit_code issue(tool& t, const pki_options& o) {
  print_files(t, issue_certificate(o.folder, o.name),
              "The node needs these two files and authority.crt.");
  return exit_code::fine;
}

} // namespace

void add_pki(CLI::App& root, command& chosen) {
  auto& pki = *root.add_subcommand(
    "pki", "Certificates by which nodes authenticate each other");
  pki.require_subcommand(1);
  constexpr const char* folder = "Folder of the authority";
  {
    auto [x, o] = add_command<pki_options>(
      pki, chosen, "init",
      "Make a private authority: authority.crt and authority.key", init);
    add_argument(x, "DIR", o.folder, folder);
  }
  auto [x, o] = add_command<pki_options>(
    pki, chosen, "issue",
    "Issue a certificate for a node: NAME.crt and NAME.key", issue);
  add_argument(x, "DIR", o.folder, folder);
  add_argument(x, "NAME", o.name,
               "1 to 64 letters, digits, dots, underscores and hyphens");
}

} // namespace tertulia::tool
