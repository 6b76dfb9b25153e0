// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/session_file.hpp>
#include <tertulia/status.hpp>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <semaphore>
#include <system_error>

#include "commands.hpp"
#include "finder.hpp"
#include "interrupts.hpp"
#include "output/file_output.hpp"
#include "output/output_stream.hpp"
#include "output/shown_text.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

// -- export -------------------------------------------------------------------

struct export_options : session_choice {
  std::string file;
  bool force = false;
};

exit_code write_out(tool& t, const export_options& o) {
  const auto found = find_session(t, o);
  const session_ref session{found.agent, found.id};
  auto bar = t.show_progress("exporting");
  session_file_options options;
  options.within = store_access::patience;
  options.progress = [&](auto done, auto of) { bar.at(done, of); };
  if (o.file.empty() || o.file == "-") {
    output_stream to{t.out()};
    export_session(t.store().system(), t.store().store(), session, to.stream(),
                   options);
    return exit_code::fine;
  }
  file_output file{o.file, o.force ? existing_file::is_replaced
                                   : existing_file::is_kept};
  const auto info = export_session(t.store().system(), t.store().store(),
                                   session, file.stream(), options);
  file.put_in_place();
  bar.clear();
  auto line = document_of(info);
  line["file"] = o.file;
  t.print(line, fmt::format("Wrote {} with {} to {}.", name_of(info),
                            counted(info.records, "snapshot"), shown(o.file)));
  return exit_code::fine;
}

// -- import -------------------------------------------------------------------

struct import_options {
  std::string file;
  std::string as;
  std::string agent;
};

/// Thrown into an import to end it early.
class stopped {};

std::ifstream opened(const std::string& name) {
  std::error_code unknown;
  if (std::filesystem::is_directory(name, unknown))
    reject_usage(fmt::format("{} is a folder, not an exported session", name));
  errno = 0;
  std::ifstream file{name, std::ios::binary};
  if (!file)
    throw failure{status_error{
      errno == ENOENT ? errc::not_found : errc::permission_denied,
      fmt::format("{}: {}", name, std::system_category().message(errno))}};
  return file;
}

exit_code read_in(tool& t, const import_options& o) {
  std::ifstream file;
  // Opens the file first, so that a typo does not create a store.
  if (o.file != "-")
    file = opened(o.file);
  auto& client = t.store(missing_store::is_made);
  auto bar = t.show_progress("importing");

  // An interrupted import removes the records that it has stored. That is
  // quick, unless it waits for standard input; then they can be deleted later.
  std::atomic<bool> stop = false;
  std::binary_semaphore ended{0};
  const on_interrupt interrupted{[&] {
    stop = true;
    (void)ended.try_acquire_for(std::chrono::seconds{1});
  }};
  session_file_options options;
  options.within = store_access::patience;
  options.progress = [&](auto done, auto of) {
    if (stop)
      throw stopped{};
    bar.at(done, of);
  };
  session_info info;
  try {
    info = import_session(client.system(), client.store(),
                          o.file == "-" ? std::cin : file,
                          session_ref{o.agent, session_id{o.as}}, options);
  } catch (const stopped&) {
    ended.release();
    throw;
  } catch (const status_error& x) {
    if (x.code() == errc::already_exists)
      throw failure{x, "Import it under another id with --as, or delete the "
                       "other one."};
    throw;
  }
  bar.clear();
  t.print(document_of(info), fmt::format("Read {} with {}.", name_of(info),
                                         counted(info.records, "snapshot")));
  return exit_code::fine;
}

} // namespace

void add_session_files(CLI::App& sessions, command& chosen) {
  {
    auto [x, o]
      = add_command<export_options>(sessions, chosen, "export",
                                    "Write a session to a file of JSON lines",
                                    write_out);
    add_session(x, o);
    add_value(x, "-o,--output", o.file, "FILE",
              "File to write; standard output by default");
    x.add_flag("-f,--force", o.force, "Replace an existing file");
  }
  {
    auto [x, o]
      = add_command<import_options>(sessions, chosen, "import",
                                    "Read an exported session into the store, "
                                    "which is created if it does not exist",
                                    read_in);
    add_argument(x, "FILE", o.file, "Exported session; - for standard input");
    add_value(x, "--as", o.as, "ID", "Another id for the session");
    add_value(x, "--agent", o.agent, "KEY", "Another agent for the session");
  }
}

} // namespace tertulia::tool
