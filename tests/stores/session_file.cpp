// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/memory_store.hpp>
#include <tertulia/session_file.hpp>
#include <tertulia/sqlite_store.hpp>
#include <tertulia/store_contract.hpp>

#include <caf/all.hpp>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/raw_sqlite.hpp"
#include "support/refusal.hpp"
#include "support/scratch.hpp"

namespace tertulia::test::session_file_tests {

namespace {

struct memory_factory {
  managed_store open(caf::actor_system& system) {
    return spawn_memory_store(system);
  }
};

/// Fixture with two stores: sessions are exported from one and imported into
/// the other.
struct session_file : store_contract<memory_factory> {
  session_file() : from(spawn_memory_store(system)) {
    to = spawn_sqlite_store(system, folder / "sessions.db");
  }

  ~session_file() override {
    for (auto& x : {from, to}) {
      self->send_exit(x, caf::exit_reason::user_shutdown);
      self->wait_for(x);
    }
  }

  template <class Verb>
  detail::answer_to<Verb> ask(const managed_store& store, const Verb& x) {
    detail::answer_to<Verb> result;
    self->request(store, patience, x)
      .receive([&](detail::answer_to<Verb>& y) { result = std::move(y); },
               [](caf::error& y) { ADD_FAILURE() << to_status(y).what(); });
    return result;
  }

  std::uint64_t keep(const managed_store& store, const session_ref& session,
                     const state& content, std::uint64_t parent) {
    auto made = record(session, content, parent);
    made.created_at = caf::timestamp{std::chrono::nanoseconds{1'234'567'891}};
    made.turn_index = 3;
    return ask(store,
               save_snapshot_request{made, content, append_rule::anywhere})
      .record.sequence;
  }

  /// Creates a session that uses every feature of sessions.
  session_ref make_session(const managed_store& store) {
    const auto of = at("s");
    auto content = talk(3);
    const auto first = keep(store, of, content, 0);
    content = content.with_custom(payload::of(std::string{"ö\n\"x\""}));
    const auto second = keep(store, of, content, first);
    const auto other
      = keep(store, of, talk(3).with_custom(payload::of(1)), second);
    const auto again = keep(store, of, content, other);
    content = content.with_artifact({"file", {ai::part::text("content")}});
    content = longer(content, "more");
    const auto fifth = keep(store, of, content, again);
    keep(store, of, longer(talk(2), "another way"), first);
    keep(store, of, number(7), fifth);
    keep(store, of, longer(content, "the end"), fifth);
    // the record between two equal states is pruned
    for (const auto i : {first, second, again, fifth, fifth + 1, fifth + 2}) {
      label_snapshot_request mark{snapshot_ref{of, i}};
      mark.add = {"kept", std::to_string(i)};
      ask(store, mark);
    }
    ask(store, annotate_snapshot_request{snapshot_ref{of, second}, "a\nnote"});
    ask(store, prune_snapshots_request{});
    ask(store, restore_snapshot_request{snapshot_ref{of, fifth}});
    ask(store, save_session_request{of, longer(content, "draft"), 9});
    ask(store, title_session_request{of, "Tea \"x\""});
    return of;
  }

  static state longer(const state& x, const std::string& text) {
    return x.with_messages(x.messages().with(ai::user_text(text)));
  }

  std::string exported(const managed_store& store, const session_ref& session) {
    std::ostringstream file;
    export_session(system, store, session, file);
    return file.str();
  }

  session_info imported(const managed_store& store, const std::string& text,
                        const session_ref& as = {}) {
    std::istringstream file{text};
    return import_session(system, store, file, as);
  }

  /// Returns the error of an import, which must not change the store.
  status_error refusal(const std::string& text) {
    const auto before = ask(to, list_sessions_request{});
    auto result = test::error_of([&] { return imported(to, text); });
    EXPECT_EQ(ask(to, list_sessions_request{}), before);
    return result;
  }

  std::vector<stored_snapshot> all(const managed_store& store,
                                   const session_ref& session) {
    list_snapshots_request x{session};
    x.with_orphans = true;
    x.wanted = detail_level::state;
    return ask(store, x).snapshots;
  }

  static std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> result;
    std::istringstream from{text};
    for (std::string line; std::getline(from, line);)
      result.push_back(line + '\n');
    return result;
  }

  static std::string join(const std::vector<std::string>& lines) {
    std::string result;
    for (const auto& x : lines)
      result += x;
    return result;
  }

  test::scratch folder;
  caf::actor_system_config cfg;
  caf::actor_system system{cfg};
  caf::scoped_actor self{system};
  managed_store from;
  managed_store to;
};

} // namespace

TEST_F(session_file, what_was_exported_is_imported_as_it_was) {
  for (auto i = 0; i < 2; ++i) {
    const auto of = make_session(from);
    const auto made = imported(to, exported(from, of));
    const auto before = ask(from, get_session_request{of});
    const auto after = ask(to, get_session_request{of});
    EXPECT_EQ(after.info, made);
    EXPECT_GE(after.info.created_at, before.info.updated_at);
    EXPECT_EQ(after.info.head, before.info.head);
    EXPECT_EQ(after.info.next_turn, 9u);
    EXPECT_EQ(after.info.title, "Tea \"x\"");
    EXPECT_EQ(after.info.preview, before.info.preview);
    EXPECT_EQ(after.info.records, 7u);
    EXPECT_EQ(after.head, before.head);
    EXPECT_EQ(after.content, before.content);
    EXPECT_EQ(all(to, of), all(from, of));
    EXPECT_EQ(ask(to, list_sessions_request{}).sessions.size(), 1u);
    // only the times of the session differ, and thus the hash
    auto theirs = lines(exported(to, of));
    auto ours = lines(exported(from, of));
    ASSERT_EQ(theirs.size(), 9u);
    ASSERT_EQ(ours.size(), 9u);
    for (const auto line : {1, 2, 3, 4, 5, 6, 7})
      EXPECT_EQ(theirs[line], ours[line]);
    ask(from, delete_session_request{of});
    ask(to, delete_session_request{of});
    std::swap(from, to); // and back
  }
}

TEST_F(session_file, versions_of_states_are_kept) {
  const auto of = at("s");
  const auto first = keep(from, of, version(1, talk(2)), 0);
  const auto second = keep(from, of, version(2, talk(2)), first);
  keep(from, of, talk(3), second);
  ask(from, save_session_request{of, version(3, talk(3)), 4});
  const auto text = exported(from, of);
  imported(to, text);
  EXPECT_EQ(all(to, of), all(from, of));
  EXPECT_EQ(all(to, of)[1].content, version(2, talk(2)));
  EXPECT_EQ(ask(to, get_session_request{of}).content, version(3, talk(3)));
  // a default type is not written, so older files do not have one
  const auto told = lines(text);
  const auto tells = [&](std::size_t line, const char* what) {
    return told.at(line).find(what) != std::string::npos;
  };
  EXPECT_TRUE(tells(1, R"("type":{"name":"app.memo","version":1})"));
  EXPECT_TRUE(tells(2, R"("type":{"name":"app.memo","version":2})"));
  EXPECT_FALSE(tells(3, R"("type")"));
  EXPECT_TRUE(tells(4, R"("type":{"name":"app.memo","version":3})"));
}

TEST_F(session_file, a_session_without_records_is_exported_too) {
  ask(from, save_session_request{at("s"), talk(2), 4});
  const auto info = imported(to, exported(from, at("s")));
  EXPECT_EQ(info.next_turn, 4u);
  EXPECT_EQ(info.head, 0u);
  EXPECT_EQ(ask(to, get_session_request{at("s")}).content, talk(2));
}

TEST_F(session_file, a_session_that_stands_at_its_head_does_so_again) {
  keep(from, at("s"), talk(2), 0);
  imported(to, exported(from, at("s")));
  const auto session = ask(to, get_session_request{at("s")});
  EXPECT_EQ(session.content, talk(2));
  EXPECT_EQ(session.info.next_turn, 4u);
  EXPECT_EQ(session.head.record.sequence, 1u);
}

TEST_F(session_file, an_import_can_have_another_name) {
  const auto text = exported(from, make_session(from));
  const auto info = imported(from, text, at("t", ""));
  EXPECT_EQ(info.agent, "/agent/a");
  EXPECT_EQ(info.id, session_id{"t"});
  EXPECT_EQ(imported(to, text, at("", "/agent/b")).agent, "/agent/b");
  EXPECT_EQ(all(to, at("s", "/agent/b")).at(0).record.agent, "/agent/b");
}

TEST_F(session_file, an_import_replaces_nobody) {
  const auto text = exported(from, make_session(from));
  ask(to, save_session_request{at("s"), number(1), 0});
  EXPECT_EQ(refusal(text).code(), errc::already_exists);
  EXPECT_EQ(ask(to, get_session_request{at("s")}).content, number(1));
}

TEST_F(session_file, what_is_not_there_is_not_exported) {
  std::ostringstream file;
  EXPECT_EQ(error_of([&] {
              return export_session(system, from, at("s"), file);
            }).code(),
            errc::not_found);
  EXPECT_TRUE(file.str().empty());
}

TEST_F(session_file, a_file_that_takes_no_more_is_no_export) {
  const auto of = make_session(from);
  std::ofstream full{"/dev/full"};
  ASSERT_TRUE(full);
  const auto error
    = test::error_of([&] { return export_session(system, from, of, full); });
  EXPECT_EQ(error.code(), errc::unavailable);
  EXPECT_EQ(error.message(), "the file cannot be written");
}

TEST_F(session_file, what_is_damaged_is_named_and_stops_no_other_export) {
  keep(to, at("s"), talk(1), 0);
  keep(to, at("s"), number(2), 1);
  keep(to, at("s"), talk(3), 2);
  keep(to, at("t"), number(4), 0);
  const auto before = exported(to, at("t"));
  test::raw_sqlite db{folder / "sessions.db"};
  for (const auto* damage :
       {"UPDATE blobs SET text = '7' WHERE text = '2'",
        "UPDATE records SET depth = 7 WHERE sequence = 2",
        "UPDATE sessions SET title = 'x' WHERE id = 's'"}) {
    db.run(damage);
    const auto error = test::error_of([&] { return exported(to, at("s")); });
    EXPECT_EQ(error.code(), errc::data_loss);
    const auto is_of_the_session = std::string{damage}.find("sessions") < 10;
    EXPECT_EQ(error.message().find("record 2 of session \"s\"") == 0,
              !is_of_the_session)
      << error.message();
    EXPECT_NE(error.message().find("session \"s\" of /agent/a"),
              std::string::npos);
    EXPECT_EQ(exported(to, at("t")), before);
  }
}

TEST_F(session_file, a_session_that_changes_meanwhile_is_not_exported) {
  const auto of = make_session(from);
  std::ostringstream file;
  session_file_options options;
  options.progress = [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_EQ(all, 7u);
    if (done == 4)
      ask(from, save_session_request{of, number(1), 1});
  };
  EXPECT_EQ(error_of([&] {
              return export_session(system, from, of, file, options);
            }).code(),
            errc::aborted);
  EXPECT_EQ(refusal(file.str()).code(), errc::data_loss);
}

TEST_F(session_file, a_file_of_a_newer_version_is_refused) {
  auto text = exported(from, make_session(from));
  const std::string version = "\"version\":1";
  text.replace(text.find(version), version.size(), "\"version\":2");
  const auto error = refusal(text);
  EXPECT_EQ(error.code(), errc::failed_precondition);
  EXPECT_EQ(error.message(),
            "line 1: the file has version 2 of the format, and this program"
            " knows no newer one than 1");
  EXPECT_EQ(error.details(), R"({"line":1})");
}

TEST_F(session_file, what_is_no_session_is_refused) {
  for (const auto* text : {"", "\n", "{}", "[1]", "nonsense\n{}",
                           R"({"format":"another","version":1})"})
    EXPECT_NE(refusal(text).message().find("line 1: "), std::string::npos)
      << text;
}

TEST_F(session_file, a_file_without_its_end_is_refused) {
  const auto text = exported(from, make_session(from));
  for (std::size_t size = 1; size + 1 < text.size(); size += 41) {
    const auto error = refusal(text.substr(0, size));
    EXPECT_NE(error.code(), errc::ok) << size;
    EXPECT_TRUE(error.message().starts_with("line ")) << error.message();
  }
}

TEST_F(session_file, the_line_that_is_damaged_is_named) {
  auto all = lines(exported(from, make_session(from)));
  const std::string word = "more";
  const auto at = all[4].find(word);
  ASSERT_NE(at, std::string::npos);
  all[4].replace(at, word.size(), "less");
  const auto error = refusal(join(all));
  EXPECT_EQ(error.code(), errc::data_loss);
  EXPECT_TRUE(error.message().starts_with("line 5: state ")) << error.message();
  EXPECT_EQ(error.details(), R"({"line":5})");
}

TEST_F(session_file, a_record_that_cannot_be_is_damage_of_its_line) {
  const auto whole = exported(from, make_session(from));
  const auto refused = [&](const std::string& said, const std::string& instead,
                           std::size_t line) {
    auto wrong = lines(whole);
    const auto found = wrong.at(line - 1).find(said);
    EXPECT_NE(found, std::string::npos) << said;
    wrong[line - 1].replace(found, said.size(), instead);
    const auto error = refusal(join(wrong));
    EXPECT_EQ(error.code(), errc::data_loss) << error.message();
    const auto number = std::to_string(line);
    EXPECT_TRUE(error.message().starts_with("line " + number + ": "))
      << error.message();
    EXPECT_EQ(error.details(), "{\"line\":" + number + "}");
  };
  refused("\"parent\":2", "\"parent\":3", 4);
  refused("\"sequence\":8", "\"sequence\":9223372036854775808", 8);
  refused("\"sequence\":8", "\"sequence\":18446744073709551615", 8);
  refused("\"sequence\":8", "\"sequence\":18446744073709551616", 8);
  // errors that only the store can detect
  refused("\"labels\":[\"4\"", "\"labels\":[\"\"", 4);
}

TEST_F(session_file, a_line_that_is_too_long_is_damage) {
  const auto of = at("s");
  const auto content = number(1).with_custom(
    payload::of(std::string(200'000, 'x'))); // more than one read returns
  keep(from, of, content, 0);
  const auto whole = exported(from, of);
  const auto longest = lines(whole).at(1).find('\n');
  const auto take = [&](std::size_t max_line) {
    std::istringstream file{whole};
    session_file_options options;
    options.max_line = max_line;
    return import_session(system, to, file, {}, options);
  };
  const auto error = test::error_of([&] { return take(longest - 1); });
  EXPECT_EQ(error.code(), errc::data_loss);
  EXPECT_EQ(error.message(),
            "line 2: is longer than " + std::to_string(longest - 1) + " bytes");
  EXPECT_EQ(take(longest).head, 1u);
  EXPECT_EQ(ask(to, get_session_request{of}).content, content);
}

TEST_F(session_file, a_name_that_no_session_may_have_is_refused) {
  auto all = lines(exported(from, make_session(from)));
  const std::string name = "\"id\":\"s\"";
  all[0].replace(all[0].find(name), name.size(), "\"id\":\"a\\u0000b\"");
  const auto error = refusal(join(all));
  EXPECT_EQ(error.code(), errc::invalid_argument);
  EXPECT_EQ(error.message(), "line 1: $.session: contains a NUL");
  // With another name the only error left is the hash of the lines.
  const auto other
    = test::error_of([&] { return imported(to, join(all), at("t")); });
  EXPECT_EQ(other.code(), errc::data_loss);
  const auto mine = test::error_of([&] {
    return imported(to, join(all), at(std::string{"a\0b", 3}));
  });
  EXPECT_EQ(mine.message(), "$.session: contains a NUL");
}

TEST_F(session_file, lines_that_are_gone_twice_there_or_elsewhere_are_refused) {
  const auto whole = lines(exported(from, make_session(from)));
  for (std::size_t i = 1; i < whole.size(); ++i) {
    const auto is_lost = [&](auto change) {
      auto wrong = whole;
      change(wrong, wrong.begin() + static_cast<std::ptrdiff_t>(i));
      return refusal(join(wrong)).code() == errc::data_loss;
    };
    EXPECT_TRUE(is_lost([](auto& x, auto at) { x.erase(at); })) << i;
    EXPECT_TRUE(is_lost([&](auto& x, auto at) { x.insert(at, whole[i]); }))
      << i;
    EXPECT_TRUE(is_lost(
      [&](auto& x, auto at) { std::swap(*at, x[1 + i % (whole.size() - 1)]); }))
      << i;
  }
}

TEST_F(session_file, a_bit_that_was_flipped_is_noticed_wherever_it_is) {
  const auto text = exported(from, make_session(from));
  for (std::size_t i = 0; i < text.size(); i += 13) {
    auto wrong = text;
    wrong[i] = static_cast<char>(wrong[i] ^ (1 << i % 7));
    const auto error = refusal(wrong);
    EXPECT_NE(error.code(), errc::ok) << i << ": " << wrong[i];
    EXPECT_TRUE(error.message().starts_with("line ")) << error.message();
  }
}

TEST_F(session_file, a_message_is_in_the_file_once) {
  constexpr int count = 300;
  auto content = talk(0);
  std::uint64_t parent = 0;
  for (int i = 0; i < count; ++i) {
    content = longer(content, std::string(1'000, 'x'));
    parent = keep(to, at("s"), content, parent);
  }
  const auto text = exported(to, at("s"));
  EXPECT_LT(text.size(), 2u * count * 1'000);
  imported(from, text);
  EXPECT_EQ(all(from, at("s")).size(), 100u); // one page
  EXPECT_EQ(ask(from, get_session_request{at("s")}).content, content);
}

} // namespace tertulia::test::session_file_tests
