// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/session_exporter.hpp>
#include <tertulia/session_file.hpp>
#include <tertulia/status.hpp>

#include <utility>

#include "session_lines.hpp"
#include <fmt/format.h>

namespace tertulia {

namespace {

/// Number of records in one request: their states share messages.
constexpr std::uint32_t export_page = 16;

} // namespace

struct session_exporter::progress {
  session_ref session;
  session_info info;
  list_snapshots_request next;
  session_lines::line_writer lines;
  state before;
  std::uint64_t done = 0;
  bool has_all = false;
};

session_exporter::session_exporter(session_ref session)
  : progress_(std::make_unique<progress>()) {
  auto& all = progress_->next;
  all.session = session;
  all.with_orphans = true;
  all.detail = detail_level::state;
  all.limit = export_page;
  progress_->session = std::move(session);
}

session_exporter::~session_exporter() = default;

get_session_request session_exporter::first() const {
  return get_session_request{progress_->session, detail_level::record};
}

std::string session_exporter::begin(const stored_session& x) {
  auto& at = *progress_;
  session_lines::first_line line;
  line.format = session_lines::format_name;
  line.version = session_file_version;
  line.session = x.info;
  at.info = x.info;
  at.lines.write(line);
  return at.lines.take();
}

bool session_exporter::has_all() const noexcept {
  return progress_->has_all;
}

const list_snapshots_request& session_exporter::next() const noexcept {
  return progress_->next;
}

std::string session_exporter::add(snapshot_page x) {
  auto& at = *progress_;
  if (!x.damages.empty())
    throw status_error{errc::data_loss, x.damages.front().what};
  for (auto& one : x.snapshots) {
    at.next.after = one.record.sequence;
    session_lines::record_line line;
    session_lines::tell(line, at.before, one.content);
    line.record = std::move(one.record);
    at.lines.write(line);
    at.before = std::move(one.content);
    ++at.done;
  }
  at.has_all = !x.more;
  return at.lines.take();
}

get_session_request session_exporter::last() const {
  return get_session_request{progress_->session};
}

std::string session_exporter::end(const stored_session& x) {
  auto& at = *progress_;
  if (x.info != at.info || at.done != x.info.records)
    throw status_error{
      errc::aborted,
      fmt::format("session \"{}\" has changed while it was exported",
                  at.session.id.str())};
  session_lines::last_line line;
  session_lines::tell(line, at.before, x.content);
  line.end.records = at.done;
  line.end.state = x.content.id();
  line.end.type = x.content.type();
  line.end.sha256 = at.lines.hash();
  at.lines.write(line);
  return at.lines.take();
}

std::uint64_t session_exporter::done() const noexcept {
  return progress_->done;
}

std::uint64_t session_exporter::total() const noexcept {
  return progress_->info.records;
}

} // namespace tertulia
