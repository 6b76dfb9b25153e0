// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/session_file.hpp>
#include <tertulia/status.hpp>

#include <cstdint>
#include <utility>

#include "session_lines.hpp"
#include "store_client.hpp"

namespace tertulia {

namespace {

/// Number of records in one request: their states share messages.
constexpr std::uint32_t export_page = 16;

} // namespace

session_info export_session(caf::actor_system& system,
                            const snapshot_store& store,
                            const session_ref& session, std::ostream& to,
                            const session_file_options& options) {
  store_client<snapshot_store> from{system, store, options.within};
  session_lines::line_writer file{to};
  session_lines::first_line begin;
  begin.format = session_lines::format_name;
  begin.version = session_file_version;
  begin.session
    = from
        .ask<stored_session>(get_session_request{session, detail_level::record})
        .info;
  file.write(begin);

  state before;
  std::uint64_t done = 0;
  list_snapshots_request all{session};
  all.with_orphans = true;
  all.wanted = detail_level::state;
  all.limit = export_page;
  for (auto more = true; more;) {
    auto records = from.ask<snapshot_page>(all);
    if (!records.damages.empty())
      throw status_error{errc::data_loss, records.damages.front().what};
    for (auto& x : records.snapshots) {
      all.after = x.record.sequence;
      session_lines::record_line line;
      session_lines::tell(line, before, x.content);
      line.record = std::move(x.record);
      file.write(line);
      before = std::move(x.content);
      ++done;
      if (options.progress)
        options.progress(done, begin.session.records);
    }
    more = records.more;
  }

  const auto last = from.ask<stored_session>(get_session_request{session});
  if (last.info != begin.session || done != last.info.records)
    throw status_error{errc::aborted,
                       "session \"" + session.id.str()
                         + "\" has changed while it was exported"};
  session_lines::last_line end;
  session_lines::tell(end, before, last.content);
  end.end.records = done;
  end.end.state = last.content.id();
  end.end.type = last.content.type();
  end.end.sha256 = file.hash();
  file.write(end);
  file.flush();
  return last.info;
}

} // namespace tertulia
