// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/text.hpp>
#include <tertulia/json.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tertulia::rules {

namespace {

std::string name_of(const session_ref& x) {
  return fmt::format("session \"{}\" of {}", x.id.str(), x.agent);
}

json details_of(const session_ref& x) {
  return json::object({{"agent", x.agent}, {"session", x.id.str()}});
}

[[noreturn]] void reject(errc code, const std::string& message,
                         const json& details) {
  // A name in the details may not be UTF-8; that must not hide the reason.
  throw status_error{code, message,
                     details.dump(-1, ' ', false,
                                  json::error_handler_t::replace)};
}

[[noreturn]] void reject_field(const std::string& path,
                               const std::string& reason) {
  reject(errc::invalid_argument, fmt::format("{}: {}", path, reason),
         json::object({{"path", path}}));
}

/// Rejects a text that is too long or not UTF-8.
void check_text(const std::string& x, std::size_t max_size, const char* path) {
  if (x.size() > max_size)
    reject_field(path, fmt::format("has at most {} bytes, this one {}",
                                   max_size, x.size()));
  if (!detail::is_utf8(x))
    reject_field(path, "is not UTF-8");
}

/// Rejects a selection of sessions that has a session without its agent.
template <class Verb>
void check_selection(const Verb& x) {
  if (!x.session.empty() && x.agent.empty())
    reject_field("$.agent", "a session needs its agent");
}

void check(const std::optional<turn_id>& x) {
  if (x && x->empty())
    reject_field("$.turn", "is empty");
  if (x)
    check_text(x->str(), max_turn_id_size, "$.turn");
}

} // namespace

// -- requests -----------------------------------------------------------------

void check(const session_ref& x) {
  check_name(x);
}

void check_known(const session_ref& x) {
  if (x.agent.empty())
    reject_field("$.agent", "is empty");
  if (x.id.empty())
    reject_field("$.session", "is empty");
}

void check(const snapshot_ref& x) {
  if (x.agent.empty())
    reject_field("$.agent", "is empty");
  if (x.sequence != 0 && x.session.empty())
    reject_field("$.session", "a number needs its session");
  if (x.sequence == 0 && x.id.empty())
    reject_field("$.id", "is empty");
}

void check(save_snapshot_request& x) {
  auto& record = x.record;
  check(session_ref{record.agent, record.session});
  if (record.id.empty())
    reject_field("$.record.id", "is empty");
  if (x.content.id() != record.state)
    reject(errc::invalid_argument,
           "$.record.state: does not match the content of the state",
           {{"path", "$.record.state"}, {"state", record.state.str()}});
  if (record.event > snapshot_event::invocation_end)
    reject_field("$.record.event", "is unknown");
  if (record.finish_reason > ai::finish_reason::unknown)
    reject_field("$.record.finishReason", "is unknown");
  if (x.rule == append_rule::as_it_was
      && (record.sequence == 0 || record.sequence > max_sequence))
    reject_field("$.record.sequence", "is out of range");
  check_text(record.note, max_note_size, "$.record.note");
  check(x.turn);
  record.type = x.content.type();
  relabel(record.labels, std::exchange(record.labels, {}), {});
}

state_id check(const save_session_request& x) {
  check(x.target);
  check(x.turn);
  return x.content.id(); // throws for a state without JSON
}

void check(const prune_snapshots_request& x) {
  check_selection(x);
}

void check(const copy_session_request& x) {
  check_known(x.from);
  check(x.to);
}

void check(save_run_request& x) {
  auto& run = x.run;
  if (run.id.empty())
    reject_field("$.run.id", "is empty");
  check(session_ref{run.agent, run.session});
  if (run.status > run_status::aborted)
    reject_field("$.run.status", "is not one that a run has");
  if (run.beat.count() < 0 || run.beat > max_run_beat)
    reject_field("$.run.beat", "is out of range");
  if (x.retention.count() < 0)
    reject_field("$.retention", "is negative");
  if (!detail::is_utf8(run.id.str()))
    reject_field("$.run.id", "is not UTF-8");
  // The end of a run is not refused for the text of its error.
  run.error = error_of_run(run.error);
}

bool is_late(const stored_run& x, timestamp since, timestamp now) {
  return x.beat.count() > 0 && now - since > x.beat * max_missed_beats;
}

run_status status_at(const stored_run& x, timestamp now) {
  return x.status == run_status::running && is_late(x, x.beat_at, now)
           ? run_status::expired
           : x.status;
}

void check_complete(const stored_run& x, timestamp now) {
  const auto status = status_at(x, now);
  if (status == run_status::completed)
    return;
  const auto is_running = status == run_status::running;
  const auto name = to_json(status).get<std::string>();
  throw status_error{
    errc::failed_precondition,
    fmt::format("snapshot {} {}: its run is {}", x.id.str(),
                is_running ? "is pending" : "was not made", name),
    to_json_text(json{{"snapshot", x.id.str()},
                      {"status", is_running ? "pending" : name},
                      {"last", x.snapshot.str()}})};
}

void check(const run_ref& x) {
  if (x.run.empty() && (x.agent.empty() || x.session.empty()))
    reject_field("$.target", "names neither a run nor a session");
}

void check(const acquire_lease_request& x) {
  check(x.target);
  if (!x.holder)
    reject_field("$.holder", "is missing");
}

void check(const annotate_snapshot_request& x) {
  check_text(x.note, max_note_size, "$.note");
}

void check(const title_session_request& x) {
  check(x.target);
  check_text(x.title, max_title_size, "$.title");
}

void check(const verify_sessions_request& x) {
  check_selection(x);
}

void check(const list_sessions_request& x) {
  if (x.order == session_order::by_name)
    return;
  if (x.agent.empty())
    reject_field("$.agent", "a list by change needs its agent");
  if (x.after != session_ref{})
    reject_field("$.after", "a list by change has one page");
}

void check_place(const save_snapshot_request& x, std::uint64_t head,
                 std::uint64_t last) {
  const auto parent = x.record.parent;
  const auto session = [&] {
    return session_ref{x.record.agent, x.record.session};
  };
  if (x.rule != append_rule::as_it_was && last >= max_sequence)
    reject(errc::resource_exhausted,
           fmt::format("{} has no number left for another record",
                       name_of(session())),
           details_of(session()));
  if (x.rule == append_rule::as_it_was && x.record.sequence <= last) {
    auto details = details_of(session());
    details["last"] = last;
    details["sequence"] = x.record.sequence;
    reject(errc::aborted,
           fmt::format("{} has had {} records, so none can be number {}",
                       name_of(session()), last, x.record.sequence),
           details);
  }
  if (x.rule != append_rule::at_head || parent == head)
    return;
  auto details = details_of(session());
  details["head"] = head;
  details["parent"] = parent;
  reject(errc::aborted,
         fmt::format("{} has changed: its head is {}, not {}",
                     name_of(session()), head, parent),
         details);
}

void check_position(const session_ref& session,
                    const std::vector<session_position>& follows,
                    const session_position& now) {
  if (follows.empty()
      || std::find(follows.begin(), follows.end(), now) != follows.end())
    return;
  auto details = details_of(session);
  details["nextTurn"] = now.next_turn;
  details["state"] = now.content.str();
  reject(errc::aborted,
         fmt::format("{} {}", name_of(session),
                     now.content.empty() ? "no longer exists"
                                         : "was changed by another writer"),
         details);
}

void check_fence(const session_ref& session, std::uint64_t fence,
                 std::uint64_t current) {
  if (fence == 0 || fence == current)
    return;
  auto details = details_of(session);
  details["fence"] = fence;
  details["granted"] = current;
  reject(errc::aborted,
         fmt::format("the lease of {} {}", name_of(session),
                     current == 0 ? "has ended" : "was taken over"),
         details);
}

void relabel(std::vector<std::string>& labels,
             const std::vector<std::string>& add,
             const std::vector<std::string>& remove) {
  for (const auto& x : remove)
    std::erase(labels, x);
  for (const auto& x : add) {
    if (x.empty() || x.size() > max_label_size)
      reject(errc::invalid_argument,
             fmt::format("a label has 1 to {} bytes, this one {}",
                         max_label_size, x.size()),
             json::object({{"sizeBytes", x.size()}}));
    const auto i = std::lower_bound(labels.begin(), labels.end(), x);
    if (i == labels.end() || *i != x)
      labels.insert(i, x);
  }
  if (labels.size() > max_labels)
    reject(errc::resource_exhausted,
           fmt::format("a snapshot has at most {} labels", max_labels),
           json::object({{"labels", labels.size()}}));
}

std::size_t page_size(std::uint32_t limit) {
  return std::clamp(limit, 1u, max_page);
}

// -- stored data --------------------------------------------------------------

void reject_unknown(const session_ref& x) {
  reject(errc::not_found, fmt::format("there is no {}", name_of(x)),
         details_of(x));
}

void reject_unknown(const snapshot_ref& x) {
  auto details = json::object({{"agent", x.agent}});
  std::string text = "there is no snapshot";
  if (x.sequence != 0) {
    details["sequence"] = x.sequence;
    text += fmt::format(" {}", x.sequence);
  }
  if (!x.id.empty()) {
    details["snapshot"] = x.id.str();
    text += fmt::format(" \"{}\"", x.id.str());
  }
  if (x.session.empty()) {
    text += fmt::format(" of {}", x.agent);
  } else {
    details["session"] = x.session.str();
    text += fmt::format(" in {}", name_of({x.agent, x.session}));
  }
  reject(errc::not_found, text, details);
}

void reject_existing(const session_ref& x) {
  reject(errc::already_exists, fmt::format("there is a {} already", name_of(x)),
         details_of(x));
}

void reject_held(const session_ref& x, const std::string& owner) {
  auto details = details_of(x);
  details["owner"] = owner;
  reject(errc::failed_precondition,
         fmt::format("{} has a live invocation already{}{}", name_of(x),
                     owner.empty() ? "" : ", in ", owner),
         details);
}

void reject_ambiguous(const snapshot_ref& x,
                      std::vector<std::string> sessions) {
  const auto more = sessions.size() > named_sessions;
  if (more)
    sessions.resize(named_sessions);
  reject(errc::failed_precondition,
         fmt::format("snapshot \"{}\" of {} is in several sessions: \"{}\"{}; "
                     "name the session",
                     x.id.str(), x.agent, fmt::join(sessions, "\", \""),
                     more ? ", …" : ""),
         {{"agent", x.agent},
          {"snapshot", x.id.str()},
          {"sessions", sessions},
          {"more", more}});
}

std::string text_of(damage_kind kind, const state_id& x) {
  return fmt::format("state {} is {}", x.str(),
                     kind == damage_kind::corrupt
                       ? "corrupt: it does not match its id"
                       : "missing or incomplete");
}

damage damage_of(damage_kind kind, const snapshot_record& x) {
  const session_ref session{x.agent, x.session};
  return {kind, session, x.sequence, x.state,
          fmt::format("record {} of {} cannot be read: {}", x.sequence,
                      name_of(session), text_of(kind, x.state))};
}

void reject_corrupt(const state_id& x) {
  reject(errc::data_loss, text_of(damage_kind::corrupt, x),
         {{"state", x.str()}, {"damage", "corrupt"}});
}

void reject_missing(const state_id& x) {
  reject(errc::data_loss, text_of(damage_kind::missing, x),
         {{"state", x.str()}, {"damage", "missing"}});
}

} // namespace tertulia::rules
