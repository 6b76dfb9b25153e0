// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/timestamp.hpp>

#include <chrono>
#include <memory>
#include <string>

#include "certificates.hpp"
#include "commands.hpp"
#include "text.hpp"
#include "units.hpp"

namespace tertulia::tool {

namespace {

struct pki_options {
  std::string folder;
  std::string name; // of a certificate
};

void print_files(tool& t, const certificate_files& files,
                 const std::string& more) {
  const caf::timestamp end{std::chrono::seconds{files.expires_at}};
  if (t.as_json()) {
    document x;
    x["certificate"] = as_utf8(files.certificate.string());
    x["key"] = as_utf8(files.key.string());
    x["expiresAt"] = to_rfc3339(end);
    t.out().json_line(x);
  } else {
    t.out().line("Made " + shown(files.certificate.string()) + " and "
                 + shown(files.key.string()) + ", good until " + local_time(end)
                 + '.');
    t.out().line(more);
  }
}

exit_code init(tool& t, const pki_options& o) {
  print_files(
    t, make_authority(o.folder),
    "Whoever has the key can let in anybody: keep it where certificates are "
    "issued, and nowhere else.");
  return exit_code::fine;
}

exit_code issue(tool& t, const pki_options& o) {
  print_files(t, issue_certificate(o.folder, o.name),
              "Its node needs these two and authority.crt.");
  return exit_code::fine;
}

} // namespace

void add_pki(CLI::App& root, command& chosen) {
  auto& pki = *root.add_subcommand(
    "pki", "Certificates with which nodes let each other in");
  pki.require_subcommand(1);
  const auto add_folder = [](CLI::App& x, pki_options& o) {
    x.add_option("DIR", o.folder, "Folder of the authority")
      ->required()
      ->type_name("");
  };

  auto& first = *pki.add_subcommand(
    "init", "Make a private authority: authority.crt and authority.key");
  auto init_options = std::make_shared<pki_options>();
  add_folder(first, *init_options);
  when_chosen(first, chosen, init_options, init);

  auto& next = *pki.add_subcommand(
    "issue", "Issue a certificate for a node: NAME.crt and NAME.key");
  auto issue_options = std::make_shared<pki_options>();
  add_folder(next, *issue_options);
  next
    .add_option("NAME", issue_options->name,
                "1 to 64 letters, digits, dots, underscores and hyphens")
    ->required()
    ->type_name("");
  when_chosen(next, chosen, issue_options, issue);
}

} // namespace tertulia::tool
