// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/session_file.hpp>
#include <tertulia/sha256.hpp>
#include <tertulia/status.hpp>
#include <tertulia/uuid.hpp>

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store_rules.hpp"

namespace tertulia {

namespace session_lines {

constexpr std::string_view format_name = "tertulia-session";

/// So many records are asked for at once: their states share messages.
constexpr std::uint32_t page = 16;

/// So many records are on their way to the store at once: it writes all of them
/// in one transaction.
constexpr std::size_t window = 64;

// -- lines --------------------------------------------------------------------

/// What every version says in its first line.
struct file_header {
  std::string format;
  std::uint64_t version = 0;
};
BOOST_DESCRIBE_STRUCT(file_header, (), (format, version))

struct first_line : file_header {
  session_info session;
};
BOOST_DESCRIBE_STRUCT(first_line, (file_header), (session))

/// What is new in a state. On the same level as in the state itself, so that
/// nothing is too deep here that is not too deep there.
// NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
struct news {
  state_form form = state_form::plain;
  /// How many messages are those of the line before.
  std::uint64_t keep = 0;
  std::vector<ai::message> messages;
  json custom;
  std::vector<ai::artifact> artifacts;
  /// Which of `custom` and `artifacts` are those of the line before.
  std::vector<std::string> same;
};
BOOST_DESCRIBE_STRUCT(news, (), (form, keep, messages, custom, artifacts, same))

struct record_line : news {
  snapshot_record record;
};
BOOST_DESCRIBE_STRUCT(record_line, (news), (record))

struct ending {
  std::uint64_t records = 0;
  /// Id and type of the state that the session works on.
  state_id state;
  stored_type type;
  std::string sha256;
};
BOOST_DESCRIBE_STRUCT(ending, (), (records, state, type, sha256))

// NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
struct last_line : news {
  ending end;
};
BOOST_DESCRIBE_STRUCT(last_line, (news), (end))

} // namespace session_lines

template <>
inline constexpr auto omitted_when_empty<session_lines::news> = std::tuple{
  &session_lines::news::keep, &session_lines::news::messages,
  &session_lines::news::custom, &session_lines::news::artifacts,
  &session_lines::news::same};

template <>
inline constexpr auto omitted_when_empty<session_lines::ending> = std::tuple{
  &session_lines::ending::type};

namespace {

using namespace session_lines;

/// Says what is new in a state after another one.
void tell(news& to, const state& before, const state& now) {
  to.form = now.form();
  const auto& log = now.messages();
  const auto& old = before.messages();
  std::size_t keep = log.shared_with(old);
  if (const auto size = std::min(log.size(), old.size()); keep < size) {
    const auto ours = log.from(keep);
    const auto theirs = old.from(keep);
    for (auto a = ours.begin(), b = theirs.begin(); keep < size && *a == *b;
         ++a, ++b)
      ++keep;
  }
  to.keep = keep;
  for (const auto& x : log.from(keep))
    to.messages.push_back(x);
  if (now.custom()) {
    if (now.custom() == before.custom())
      to.same.emplace_back("custom");
    else
      to.custom = parse_json<json>(now.custom().text());
  }
  if (!now.artifacts().empty()) {
    if (now.shared_artifacts() == before.shared_artifacts()
        || now.artifacts() == before.artifacts())
      to.same.emplace_back("artifacts");
    else
      to.artifacts = now.artifacts();
  }
}

/// Returns the state of a line, which says elsewhere of which type it is.
/// @errors throws `invalid_argument` if it cannot follow the one before.
state follow(const state& before, news x, const stored_type& type) {
  if (x.keep > before.messages().size())
    throw status_error{errc::invalid_argument,
                       "$.keep: is more than there is before"};
  const auto is_same = [&](const char* what) {
    return std::find(x.same.begin(), x.same.end(), what) != x.same.end();
  };
  payload custom;
  if (is_same("custom"))
    custom = before.custom();
  else if (!x.custom.is_null())
    custom = payload::encoded(to_json_text(x.custom));
  if (x.form == state_form::plain)
    return state::plain(std::move(custom), type);
  artifact_list artifacts;
  if (is_same("artifacts"))
    artifacts = before.shared_artifacts();
  else if (!x.artifacts.empty())
    artifacts = std::make_shared<const std::vector<ai::artifact>>(
      std::move(x.artifacts));
  auto log = before.messages().prefix(x.keep);
  return state::conversation(log.with(std::move(x.messages)), std::move(custom),
                             std::move(artifacts), type);
}

// -- files --------------------------------------------------------------------

class line_writer {
public:
  explicit line_writer(std::ostream& to) : to_(to) {}

  template <class Line>
  void write(const Line& x) {
    auto text = to_json_text(x);
    text += '\n';
    hash_.update(text);
    to_.write(text.data(), static_cast<std::streamsize>(text.size()));
    check();
  }

  void flush() {
    to_.flush();
    check();
  }

  /// Of all lines so far.
  [[nodiscard]] std::string hash() const {
    return hash_.hex();
  }

private:
  void check() {
    if (!to_)
      throw status_error{errc::unavailable, "the file takes no more"};
  }

  std::ostream& to_;
  sha256 hash_;
};

class line_reader {
public:
  explicit line_reader(std::istream& from) : from_(from) {}

  /// Goes to the next line, which must be there.
  void next() {
    if (number_ != 0) {
      hash_.update(text_);
      hash_.update("\n");
    }
    ++number_;
    if (!std::getline(from_, text_))
      reject(errc::data_loss, "the file ends before the session does");
  }

  [[nodiscard]] const std::string& text() const noexcept {
    return text_;
  }

  /// Reads the line as a document.
  [[nodiscard]] json document() const {
    return guarded([&] { return parse_json<json>(text_); });
  }

  /// What the function throws is the fault of this line.
  template <class Fn>
  [[nodiscard]] auto guarded(Fn fn) const -> decltype(fn()) {
    try {
      return fn();
    } catch (const status_error& x) {
      reject(errc::data_loss, x.message());
    }
  }

  void expect_end() {
    ++number_;
    std::string more;
    if (std::getline(from_, more))
      reject(errc::data_loss, "something follows the end of the session");
  }

  [[noreturn]] void reject(errc code, const std::string& why) const {
    throw status_error{code, "line " + std::to_string(number_) + ": " + why,
                       json::object({{"line", number_}}).dump()};
  }

  /// Of all lines before this one.
  [[nodiscard]] std::string hash() const {
    return hash_.hex();
  }

private:
  std::istream& from_;
  std::string text_;
  std::uint64_t number_ = 0;
  sha256 hash_;
};

// -- stores -------------------------------------------------------------------

/// A thread that talks to a store.
template <class Store>
class client {
public:
  client(caf::actor_system& system, const Store& store, caf::timespan within)
    : self_(system), store_(store), within_(within) {}

  template <class Answer, class Verb>
  Answer ask(const Verb& x) {
    return receive<Answer>(send(x));
  }

  bool has(const session_ref& which) {
    try {
      ask<stored_session>(get_session{which, detail_level::record});
      return true;
    } catch (const status_error& x) {
      if (x.code() != errc::not_found)
        throw;
      return false;
    }
  }

  template <class Verb>
  auto send(const Verb& x) {
    return self_->request(store_, within_, x);
  }

  template <class Answer, class Handle>
  Answer receive(Handle&& from) {
    Answer result;
    caf::error reason;
    from.receive([&](Answer& x) { result = std::move(x); },
                 [&](caf::error& x) { reason = std::move(x); });
    if (reason)
      raise(reason);
    return result;
  }

private:
  caf::scoped_actor self_;
  Store store_;
  caf::timespan within_;
};

/// Reads the rest of a file into a session that nobody else knows of.
class importer {
public:
  importer(client<managed_store>& store, line_reader& from,
           const session_file_options& options, session_info said,
           session_ref where)
    : store_(store), from_(from), options_(options), said_(std::move(said)),
      where_(std::move(where)) {}

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
  using handle = decltype(std::declval<client<managed_store>&>().send(
    std::declval<const save_snapshot&>()));

  void add(record_line x) {
    auto record = std::move(x.record);
    content_ = from_.guarded(
      [&] { return follow(content_, std::move(x), record.type); });
    verify(record.state);
    if (record.sequence <= last_ || record.parent >= record.sequence)
      from_.reject(errc::data_loss, "the record is not in its place");
    last_ = record.sequence;
    if (last_ == said_.head)
      head_ = record;
    record.agent = where_.agent;
    record.session = where_.id;
    saves_.push_back(store_.send(
      save_snapshot{std::move(record), content_, append_rule::as_it_was}));
    if (saves_.size() >= window)
      settle();
    ++records_;
    if (options_.progress)
      options_.progress(records_, said_.records);
  }

  void finish(last_line x) {
    const auto end = std::move(x.end);
    content_
      = from_.guarded([&] { return follow(content_, std::move(x), end.type); });
    if (end.sha256 != from_.hash())
      from_.reject(errc::data_loss,
                   "the lines before are not those that were written");
    verify(end.state);
    if (end.records != records_)
      from_.reject(errc::data_loss, "there are other records than it says");
    if ((records_ != 0) != (said_.head != 0) || head_.sequence != said_.head)
      from_.reject(errc::data_loss, "the head is no record");
    from_.expect_end();
    while (!saves_.empty())
      settle();
    if (said_.head != 0 && said_.head != last_)
      store_.ask<stored_snapshot>(
        restore_snapshot{snapshot_ref{where_, said_.head}});
    if (said_.head == 0 || head_.state != end.state || head_.type != end.type
        || next_turn_after(head_) != said_.next_turn)
      store_.ask<session_info>(save_session{where_, content_, said_.next_turn});
    if (!said_.title.empty())
      store_.ask<session_info>(title_session{where_, said_.title});
  }

  void verify(const state_id& id) {
    from_.guarded([&] {
      if (content_.id() != id)
        rules::reject_corrupt(id);
    });
  }

  void settle() {
    auto first = saves_.front();
    saves_.pop_front();
    store_.receive<saved_snapshot>(first);
  }

  client<managed_store>& store_;
  line_reader& from_;
  const session_file_options& options_;
  const session_info said_;
  const session_ref where_;
  state content_;
  snapshot_record head_;
  std::uint64_t last_ = 0;
  std::uint64_t records_ = 0;
  std::deque<handle> saves_;
};

} // namespace

session_info export_session(caf::actor_system& system,
                            const snapshot_store& store,
                            const session_ref& which, std::ostream& to,
                            const session_file_options& options) {
  client<snapshot_store> from{system, store, options.within};
  line_writer file{to};
  first_line begin;
  begin.format = format_name;
  begin.version = session_file_version;
  begin.session
    = from.ask<stored_session>(get_session{which, detail_level::record}).info;
  file.write(begin);

  state before;
  std::uint64_t done = 0;
  list_snapshots all{which};
  all.with_orphans = true;
  all.wanted = detail_level::state;
  all.limit = page;
  for (auto more = true; more;) {
    auto records = from.ask<snapshot_page>(all);
    if (!records.damages.empty())
      throw status_error{errc::data_loss, records.damages.front().what};
    for (auto& x : records.snapshots) {
      all.after = x.record.sequence;
      record_line line;
      tell(line, before, x.content);
      line.record = std::move(x.record);
      file.write(line);
      before = std::move(x.content);
      ++done;
      if (options.progress)
        options.progress(done, begin.session.records);
    }
    more = records.more;
  }

  const auto last = from.ask<stored_session>(get_session{which});
  if (last.info != begin.session || done != last.info.records)
    throw status_error{errc::aborted,
                       "session \"" + which.id.str()
                         + "\" has changed while it was exported"};
  last_line end;
  tell(end, before, last.content);
  end.end.records = done;
  end.end.state = last.content.id();
  end.end.type = last.content.type();
  end.end.sha256 = file.hash();
  file.write(end);
  file.flush();
  return last.info;
}

session_info import_session(caf::actor_system& system,
                            const managed_store& store, std::istream& from,
                            const session_ref& as,
                            const session_file_options& options) {
  line_reader file{from};
  file.next();
  file_header what;
  json line;
  try {
    line = parse_json<json>(file.text());
    what = from_json<file_header>(line);
  } catch (const status_error&) {
    // so it has no format
  }
  if (what.format != format_name)
    file.reject(errc::failed_precondition, "this is no file of a session");
  if (what.version == 0 || what.version > session_file_version)
    file.reject(errc::failed_precondition,
                "the file has version " + std::to_string(what.version)
                  + " of the format, and this program knows no newer one than "
                  + std::to_string(session_file_version));
  auto begin = file.guarded([&] { return from_json<first_line>(line); });
  const session_ref name{as.agent.empty() ? begin.session.agent : as.agent,
                         as.id.empty() ? begin.session.id : as.id};
  rules::check(name);

  client<managed_store> to{system, store, options.within};
  // The copy at the end is what counts; this spares the way there.
  if (to.has(name))
    rules::reject_existing(name);

  const session_ref hidden{
    name.agent, session_id{name.id.str() + ".import-" + make_uuid()}};
  const auto clean_up = [&] {
    try {
      to.ask<erased>(delete_session{hidden});
    } catch (const status_error&) {
      // not there yet, or the store is gone
    }
  };
  try {
    importer{to, file, options, std::move(begin.session), hidden}.run();
    auto result = to.ask<session_info>(copy_session{hidden, name});
    clean_up();
    return result;
  } catch (...) {
    clean_up();
    throw;
  }
}

} // namespace tertulia
