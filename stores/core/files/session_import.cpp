// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/session_file.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>
#include <tertulia/uuid.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "session_lines.hpp"
#include "store_client.hpp"
#include <fmt/format.h>

namespace tertulia {

namespace session_lines {

namespace {

/// Maximum number of saves in flight: the store writes all of them in one
/// transaction.
constexpr std::size_t max_saves = 64;

/// Importer of the rest of a file into a temporary session, which is not known
/// to any other client.
class importer {
public:
  importer(store_client<managed_store>& store, line_reader& from,
           const session_file_options& options, session_info said,
           session_ref session)
    : store_(store), from_(from), options_(options), declared_(std::move(said)),
      session_(std::move(session)) {}

  void run() {
    for (;;) {
      from_.next();
      auto line = from_.document();
      if (line.is_object() && line.contains("end")) {
        finish(from_.guarded([&] { return from_json<last_line>(line); }));
        return;
      }
      if (!line.is_object() || !line.contains("record"))
        from_.reject(errc::data_loss, "is neither a record nor the end");
      add(from_.guarded([&] { return from_json<record_line>(line); }));
    }
  }

private:
  using answer = decltype(std::declval<store_client<managed_store>&>().send(
    std::declval<const save_snapshot_request&>()));

  struct pending_save {
    std::uint64_t line;
    answer from;
  };

  /// Calls a function and reports a rejection by the store as damage of the
  /// line that caused it.
  template <class Fn>
  static void raise_at_line(std::uint64_t line, Fn fn) {
    try {
      fn();
    } catch (const status_error& x) {
      if (x.code() != errc::invalid_argument)
        throw;
      line_reader::reject(line, errc::data_loss, x.message());
    }
  }

  void add(record_line x) {
    auto record = std::move(x.record);
    content_ = from_.guarded(
      [&] { return follow(content_, std::move(x), record.type); });
    verify(record.state);
    if (record.sequence <= last_)
      from_.reject(errc::data_loss, "the record is not in its place");
    if (record.sequence > rules::max_sequence)
      from_.reject(errc::data_loss, "no record can have this number");
    if (record.parent != 0
        && !std::binary_search(known_.begin(), known_.end(), record.parent))
      from_.reject(
        errc::data_loss,
        fmt::format("the record continues record {}, which is missing",
                    record.parent));
    last_ = record.sequence;
    known_.push_back(last_);
    if (last_ == declared_.head)
      head_ = record;
    record.agent = session_.agent;
    record.session = session_.id;
    saves_.push_back({from_.number(),
                      store_.send(save_snapshot_request{
                        std::move(record), content_, append_rule::as_it_was})});
    if (saves_.size() >= max_saves)
      await_save();
    ++records_;
    if (options_.progress)
      options_.progress(records_, declared_.records);
  }

  void finish(last_line x) {
    const auto end = std::move(x.end);
    content_
      = from_.guarded([&] { return follow(content_, std::move(x), end.type); });
    // An error of the store about one line is more precise than a checksum of
    // all lines.
    while (!saves_.empty())
      await_save();
    if (end.sha256 != from_.hash())
      from_.reject(errc::data_loss, "the lines before were changed");
    verify(end.state);
    if (end.records != records_)
      from_.reject(errc::data_loss, "the number of records is wrong");
    if ((records_ != 0) != (declared_.head != 0)
        || head_.sequence != declared_.head)
      from_.reject(errc::data_loss, "the head is not a record");
    from_.expect_end();
    if (declared_.head != 0 && declared_.head != last_)
      store_.ask<stored_snapshot>(
        restore_snapshot_request{snapshot_ref{session_, declared_.head}});
    if (declared_.head == 0 || head_.state != end.state
        || head_.type != end.type
        || next_turn_after(head_) != declared_.next_turn
        || head_.inputs != declared_.inputs || declared_.turn
        || !declared_.past_turns.empty()) {
      save_session_request last{session_, content_, declared_.next_turn};
      for (const auto& x : declared_.past_turns)
        save(last, x.inputs, x.name);
      save(last, declared_.inputs, declared_.turn);
    }
    if (!declared_.title.empty())
      raise_at_line(1, [&] {
        store_.ask<session_info>(
          title_session_request{session_, declared_.title});
      });
  }

  void save(save_session_request& x, std::optional<std::uint64_t> inputs,
            std::optional<turn_id> turn) {
    x.inputs = inputs;
    x.turn = std::move(turn);
    store_.ask<session_info>(x);
  }

  void verify(const state_id& id) {
    from_.guarded([&] {
      if (content_.id() != id)
        rules::reject_corrupt(id);
    });
  }

  /// Waits for the answer to the oldest save.
  void await_save() {
    auto first = saves_.front();
    saves_.pop_front();
    raise_at_line(first.line, [&] { store_.receive<save_result>(first.from); });
  }

  store_client<managed_store>& store_;
  line_reader& from_;
  const session_file_options& options_;
  const session_info declared_;
  const session_ref session_;
  state content_;
  snapshot_record head_;
  std::uint64_t last_ = 0;
  std::vector<std::uint64_t> known_; // numbers of all records so far
  std::uint64_t records_ = 0;
  std::deque<pending_save> saves_;
};

} // namespace

} // namespace session_lines

session_info import_session(caf::actor_system& system,
                            const managed_store& store, std::istream& from,
                            const session_ref& as,
                            const session_file_options& options) {
  session_lines::line_reader file{from, options.max_line};
  file.next();
  session_lines::file_header what;
  json line;
  try {
    line = parse_json<json>(file.text());
    what = from_json<session_lines::file_header>(line);
  } catch (const status_error&) {
    // `what.format` remains empty and is rejected below
  }
  if (what.format != session_lines::format_name)
    file.reject(errc::failed_precondition, "this is not the file of a session");
  if (what.version == 0 || what.version > session_file_version)
    file.reject(errc::failed_precondition,
                fmt::format("the file has version {} of the format, and this "
                            "program knows no newer one than {}",
                            what.version, session_file_version));
  auto begin
    = file.guarded([&] { return from_json<session_lines::first_line>(line); });
  const session_ref name{as.agent.empty() ? begin.session.agent : as.agent,
                         as.id.empty() ? begin.session.id : as.id};
  try {
    rules::check(name);
  } catch (const status_error& x) {
    if (as == name)
      throw;
    file.reject(x.code(), x.message());
  }

  store_client<managed_store> to{system, store, options.within};
  // The copy at the end decides; this check only saves the import before it.
  if (to.has(name))
    rules::reject_existing(name);

  const session_ref hidden{
    name.agent, session_id{name.id.str() + ".import-" + make_uuid()}};
  const auto clean_up = [&] {
    try {
      to.ask<erase_result>(delete_session_request{hidden});
    } catch (const status_error&) {
      // does not exist yet, or the store is down
    }
  };
  try {
    session_lines::importer{to, file, options, std::move(begin.session), hidden}
      .run();
    auto result = to.ask<session_info>(copy_session_request{hidden, name});
    clean_up();
    return result;
  } catch (...) {
    clean_up();
    throw;
  }
}

} // namespace tertulia
