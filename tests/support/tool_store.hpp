// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>
#include <tertulia/store.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "support/file_store.hpp"
#include "support/scratch.hpp"
#include "support/tool_process.hpp"
#include <gtest/gtest.h>

namespace tertulia::test {

/// Fixture with a store for tests of the command line.
///
/// `s1` of `/agent/chat`: records 1 - 2 - 3 and 2 - 4, with 4 as its head and 3
/// orphaned; 2 has the label `good`. `s2` of `/agent/chat`, titled `Second`:
/// one record with the state of record 1 of `s1`. `s1` of `/flow/draft`: one
/// record.
struct a_tool : ::testing::Test {
  void SetUp() override {
    file_store store{file};
    const auto one = conversation({{"hello", "hi"}}, "calm");
    const auto two = conversation({{"hello", "hi"}, {"how?", "so"}}, "calm");
    const auto three
      = conversation({{"hello", "hi"}, {"how?", "so"}, {"why?", "hm"}}, "calm");
    const auto four = conversation(
      {{"hello", "hi"}, {"when?", "now"}, {"oh", "yes"}}, "glad");
    const session_ref chat{"/agent/chat", session_id{"s1"}};
    save(store, chat, one, 0);
    save(store, chat, two, 1);
    save(store, chat, three, 2);
    save(store, chat, four, 2);
    label_snapshot_request label{snapshot_ref{chat, 2}};
    label.add.emplace_back("good");
    store.get(label);
    const session_ref second{"/agent/chat", session_id{"s2"}};
    save(store, second, one, 0);
    store.get(title_session_request{second, "Second"});
    save(store, {"/flow/draft", session_id{"s1"}}, two, 0);
    ids = {to_string(one.id()), to_string(two.id()), to_string(three.id()),
           to_string(four.id())};
  }

  using turn = std::pair<const char*, const char*>;

  static state conversation(std::initializer_list<turn> turns,
                            const char* mood) {
    std::vector<ai::message> messages;
    for (const auto& [user, model] : turns) {
      messages.push_back(ai::user_text(user));
      messages.push_back(ai::model_text(model));
    }
    return state::conversation(ai::message_log{}.with(std::move(messages)),
                               payload::of(json::object({{"mood", mood}})), {});
  }

  /// Saves a record that was made an hour after its parent.
  static snapshot_record save(file_store& store, const session_ref& session,
                              const state& content, std::uint64_t parent) {
    snapshot_record x;
    x.agent = session.agent;
    x.session = session.id;
    x.state = content.id();
    x.id = snapshot_id{x.state.str()};
    x.parent = parent;
    x.turn_index = parent;
    x.created_at = parse_rfc3339("2026-11-20T10:00:00Z")
                   + std::chrono::hours{static_cast<std::int64_t>(parent)};
    return store.get(save_snapshot_request{x, content, append_rule::anywhere})
      .record;
  }

  /// Saves a session of `/agent/chat` with this text and its answer.
  void add_session(const std::string& id, const std::string& text) const {
    file_store store{file};
    save(store, {"/agent/chat", session_id{id}},
         conversation({{text.c_str(), "x"}}, "calm"), 0);
  }

  // -- running ----------------------------------------------------------------

  static strings command(strings arguments) {
    return joined({TERTULIA_TOOL}, arguments);
  }

  /// Runs the tool without a store.
  static tool_result run_bare(strings arguments,
                              const std::string& input = {}) {
    return run_process(command(std::move(arguments)), input);
  }

  strings on_store(strings arguments) const {
    return command(joined({"--store", file.string()}, arguments));
  }

  /// Runs the tool on the store.
  tool_result run(strings arguments, const std::string& input = {}) const {
    return run_process(on_store(std::move(arguments)), input);
  }

  /// Runs the tool, which must succeed and print nothing on standard error.
  std::string output(strings arguments) const {
    const auto result = run(std::move(arguments));
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return result.out;
  }

  /// Runs the tool with `--json` and returns its only document.
  json document(strings arguments) const {
    const auto text = output(joined(std::move(arguments), {"--json"}));
    EXPECT_EQ(text.find('\n'), text.size() - 1) << "one line";
    return json::parse(text);
  }

  /// Runs the tool with `--json` and returns its documents, one per line.
  std::vector<json> documents(strings arguments) const {
    return documents_in(output(joined(std::move(arguments), {"--json"})));
  }

  /// Runs the tool with `--json`; it must fail and print nothing on standard
  /// output.
  json failure(int code, strings arguments,
               const std::string& input = {}) const {
    const auto result = run(joined(std::move(arguments), {"--json"}), input);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_EQ(result.out, "");
    const auto error = json::parse(result.err).at("error");
    EXPECT_EQ(error.at("exitCode"), code);
    return error;
  }

  /// Runs the tool, which must fail as above, and returns the error's code.
  std::string failure_code(int code, strings arguments,
                           const std::string& input = {}) const {
    return failure(code, std::move(arguments), input).at("code");
  }

  static std::string text_of(const std::filesystem::path& x) {
    std::ifstream in{x, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  /// Returns the names of the files in the folder.
  strings files() const {
    strings result;
    for (const auto& x :
         std::filesystem::directory_iterator{file.parent_path()})
      result.push_back(x.path().filename().string());
    return result;
  }

  scratch folder;
  std::filesystem::path file = folder / "chat.db";
  /// Ids of the records 1 to 4 of `s1`.
  strings ids;
};

} // namespace tertulia::test
