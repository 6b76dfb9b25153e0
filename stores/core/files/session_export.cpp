// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/session_exporter.hpp>
#include <tertulia/session_file.hpp>
#include <tertulia/status.hpp>

#include <cstdint>
#include <ostream>

#include "store_client.hpp"

namespace tertulia {

session_info export_session(caf::actor_system& system,
                            const snapshot_store& store,
                            const session_ref& session, std::ostream& to,
                            const session_file_options& options) {
  store_client<snapshot_store> from{system, store, options.within};
  const auto check = [&] {
    if (!to)
      throw status_error{errc::unavailable, "the file cannot be written"};
  };
  const auto write = [&](const std::string& text) {
    to.write(text.data(), static_cast<std::streamsize>(text.size()));
    check();
  };
  session_exporter steps{session};
  write(steps.begin(from.ask<stored_session>(steps.first())));
  std::uint64_t told = 0;
  while (!steps.has_all()) {
    write(steps.add(from.ask<snapshot_page>(steps.next())));
    while (options.progress && told < steps.done())
      options.progress(++told, steps.total());
  }
  const auto last = from.ask<stored_session>(steps.last());
  write(steps.end(last));
  to.flush();
  check();
  return last.info;
}

} // namespace tertulia
