// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/ai/session_flow.hpp>
#include <tertulia/define_agent.hpp>
#include <tertulia/detail/store_outcome.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/sqlite_store.hpp>

#include <caf/deep_to_string.hpp>
#include <caf/scoped_actor.hpp>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/conversations.hpp"
#include "support/scratch.hpp"

// Programs that run one after the other, with types of the same name.

namespace tertulia::test::evolution_tests {

using words = std::vector<std::string>;

namespace first {

struct memo {
  words said;
};
BOOST_DESCRIBE_STRUCT(memo, (), (said))

/// Time-out in seconds.
struct patience {
  std::int64_t timeout = 0;
};
BOOST_DESCRIBE_STRUCT(patience, (), (timeout))

} // namespace first

namespace second {

struct memo {
  words said;
  std::string language;

  friend bool operator==(const memo&, const memo&) = default;
};
BOOST_DESCRIBE_STRUCT(memo, (), (said, language))

/// Time-out in milliseconds.
struct patience {
  std::int64_t timeout = 0;
};
BOOST_DESCRIBE_STRUCT(patience, (), (timeout))

} // namespace second

namespace other {

struct memo {
  words said;
};
BOOST_DESCRIBE_STRUCT(memo, (), (said))

} // namespace other

/// State type without a version.
struct words_only {
  words said;
};
BOOST_DESCRIBE_STRUCT(words_only, (), (said))

} // namespace tertulia::test::evolution_tests

namespace tertulia {

template <>
inline constexpr type_version version_of<test::evolution_tests::first::memo>{
  "app.memo", 1};
template <>
inline constexpr type_version version_of<test::evolution_tests::second::memo>{
  "app.memo", 2};
template <>
inline constexpr type_version version_of<test::evolution_tests::other::memo>{
  "app.other", 1};
template <>
inline constexpr type_version
  version_of<test::evolution_tests::second::patience>{"", 2};

} // namespace tertulia

namespace tertulia::test::evolution_tests {

/// Stores each word, one turn per word.
template <class Memo>
task<int> take_notes(context, agent_session<Memo> sess, input<std::string> in,
                     agent_responder<std::string> out) {
  while (const auto word = co_await in.next()) {
    co_await sess.update([&](Memo& x) { x.said.push_back(*word); });
    co_await out.end_turn();
  }
  const auto last = co_await sess.state();
  co_return static_cast<int>(last.said.size());
}

/// Stores each message, and its text in the custom value.
template <class Memo>
task<> chat(context, ai::chat_session<Memo> sess,
            input<ai::conversation_input> in, ai::chat_responder<phase> out) {
  while (const auto input = co_await in.next()) {
    co_await sess.add_messages(input->messages);
    const auto text = input->messages.back().text();
    co_await sess.patch_custom([&](Memo& x) { x.said.push_back(text); });
    co_await out.end_turn();
  }
}

/// Stores the text of each message in the custom value, as a session flow.
template <class Memo>
task<>
flow(context ctx, ai::flow_session<Memo> sess, ai::flow_responder<phase>) {
  co_await sess.run_turns(
    ctx, [&](context, const ai::conversation_input& input) -> task<> {
      const auto text = input.messages.back().text();
      co_await sess.patch_custom([&](Memo& x) { x.said.push_back(text); });
    });
}

/// Sets the time-out to each input; 0 changes nothing.
template <class Patience>
task<std::int64_t> set_timeout(context, agent_session<Patience> sess,
                               input<std::int64_t> in,
                               agent_responder<int> out) {
  while (const auto timeout = co_await in.next()) {
    if (*timeout != 0)
      co_await sess.update([&](Patience& x) { x.timeout = *timeout; });
    co_await out.end_turn();
  }
  const auto last = co_await sess.state();
  co_return last.timeout;
}

inline const with_migration speak_english{1, [](json& x) {
                                            x["language"] = "en";
                                          }};
inline const with_migration to_milliseconds{
  1,
  [](json& x) { x["timeout"] = x.at("timeout").get<std::int64_t>() * 1'000; }};
inline const with_migration give_up{1, [](json&) {
                                      throw std::runtime_error{"no idea"};
                                    }};

struct evolution : ::testing::TestWithParam<const char*> {
  /// Program with a store that the next program continues to use.
  class program {
  public:
    explicit program(evolution& at)
      : self_(at.system), memory_(at.memory),
        store(memory_ ? memory_ : spawn_sqlite_store(at.system, at.file)),
        rt(std::in_place, at.system) {}

    ~program() {
      rt.reset();
      if (!memory_) {
        self_->send_exit(store, caf::exit_reason::user_shutdown);
        self_->wait_for(store);
      }
    }

    program(const program&) = delete;
    program& operator=(const program&) = delete;

    template <class Memo, class... Options>
    auto define_notes(const Options&... options) {
      return define_agent(*rt, "notes", take_notes<Memo>,
                          with_snapshot_store(store), options...);
    }

    template <class Memo, class... Options>
    auto define_chat(const Options&... options) {
      return ai::define_chat_agent(*rt, "chat", chat<Memo>,
                                   with_snapshot_store(store), each_turn,
                                   options...);
    }

    template <class Memo, class... Options>
    auto define_flow(const Options&... options) {
      return ai::define_session_flow(*rt, "flow", flow<Memo>,
                                     with_snapshot_store(store), options...);
    }

    template <class Patience, class... Options>
    auto define_timeout(const Options&... options) {
      return define_agent(*rt, "timeout", set_timeout<Patience>,
                          with_snapshot_store(store), each_turn, options...);
    }

    template <class Verb>
    detail::answer_to<Verb> ask(const Verb& x) {
      detail::answer_to<Verb> result;
      self_->request(store, test::patience, x)
        .receive([&](detail::answer_to<Verb>& y) { result = std::move(y); },
                 [](caf::error& y) { ADD_FAILURE() << to_status(y).what(); });
      return result;
    }

    stored_session session(const std::string& agent) {
      return ask(get_session_request{{agent, session_id{"mine"}}});
    }

    /// Returns the snapshots of the session as texts: `1: {…}` is the version
    /// and the custom value, followed by a mark for orphans.
    words snapshots(const std::string& agent) {
      list_snapshots_request all{{agent, session_id{"mine"}}};
      all.with_orphans = true;
      all.detail = detail_level::state;
      words result;
      for (const auto& x : ask(all).snapshots) {
        EXPECT_EQ(x.record.type, x.content.type());
        result.push_back(std::to_string(x.content.type().version()) + ": "
                         + x.content.custom().text()
                         + (x.record.orphaned ? " orphaned" : ""));
      }
      return result;
    }

  private:
    caf::scoped_actor self_;
    managed_store memory_; // null if the store is in a file

  public:
    managed_store store;
    std::optional<runtime> rt;
  };

  evolution() {
    if (GetParam() == std::string{"memory"})
      memory = spawn_memory_store(system);
  }

  /// Runs a program that stores these words in a session, and returns its
  /// snapshots.
  template <class Memo, class... Options>
  std::vector<snapshot_id>
  leave_notes(const words& said, const Options&... options) {
    program old{*this};
    const auto notes = old.define_notes<Memo>(options...);
    return finish(notes.stream_bidi(my_session), said).snapshot_ids;
  }

  /// Returns everything that must not change: the whole session with its times.
  static std::string all_of(const stored_session& x) {
    return caf::deep_to_string(x);
  }

  config cfg;
  caf::actor_system system{cfg};
  scratch folder;
  std::string file = (folder / "sessions.db").string();
  managed_store memory;
};

inline void expect_refusal(const status_error& x, const words& said) {
  EXPECT_EQ(x.code(), errc::failed_precondition) << x.what();
  for (const auto& text : said)
    EXPECT_TRUE(has(x.message(), text));
}

} // namespace tertulia::test::evolution_tests
