// SPDX-License-Identifier: BSD-3-Clause

// Random sequences of lost links, crashes of the runs of a conversation, of its
// runtime and store, aborts, other clients and listeners. The client comes
// back: to the same runtime or to another one with the same store.

#include <tertulia/actor_client.hpp>
#include <tertulia/ask_store.hpp>

#include <string>
#include <utility>
#include <vector>

#include "support/effort.hpp"
#include "support/errand_clients.hpp"
#include "support/run_listeners.hpp"
#include "support/two_runtimes.hpp"

using namespace std::literals;

namespace tertulia::test::reopened_sequence_tests {

namespace {

using watcher = listener<errands::clerk_type>;

struct reopened_sequences : two_runtimes {
  talker& client() {
    return state_of<talker>(who);
  }

  /// Opens the session. A turn that ended with an error is asked for by name.
  void open() {
    auto& x = client();
    const auto turn = x.heard.size() - 1;
    x.said = static_cast<int>(turn);
    x.heard.back().text.clear();
    client_options<nothing> chosen;
    with_session_id{session}.apply(chosen);
    with_keep{1min}.apply(chosen);
    with_attach{true}.apply(chosen);
    with_resume{}.apply(chosen);
    with_turn_id{std::to_string(turn)}.apply(chosen);
    x.open(any_desk(), request(chosen), nullptr, road);
  }

  open_request request(client_options<nothing>& chosen) {
    return {clerk->info().key, {}, std::move(chosen.connection), {}};
  }

  /// Has a listener begin at a position; without a run at the turn under way.
  void listen(watcher& x, cursor from) {
    client_options<nothing> chosen;
    if (from.run) {
      with_cursor{from}.apply(chosen);
    } else {
      with_session_id{session}.apply(chosen);
      with_attach{}.apply(chosen);
    }
    as_listener{}.apply(chosen);
    x.from = std::move(from);
    x.open(any_runtime().front_desk(), request(chosen), nullptr, nullptr);
    if (pick(4) == 0)
      x.pause();
  }

  void add_listener() {
    if (watchers.size() == 4) {
      caf::anon_send_exit(watchers.front(), caf::exit_reason::kill);
      watchers.erase(watchers.begin());
    }
    watchers.push_back(spawn_client<watcher>());
    auto& x = state_of<watcher>(watchers.back());
    x.heard = &heard;
    auto from = client().position();
    if (from.number > 0)
      from.number
        = static_cast<std::uint64_t>(pick(static_cast<int>(from.number) + 1));
    listen(x, pick(2) == 0 ? from : cursor{});
  }

  /// Has a listener leave, and go on where it was.
  void move_listener() {
    if (watchers.empty())
      return;
    auto& x = state_of<watcher>(watchers[static_cast<std::size_t>(
      pick(static_cast<int>(watchers.size())))]);
    const auto at = x.is_open() ? x.detach() : x.position();
    x.resume();
    if (at.run)
      listen(x, at);
  }

  /// Has another client take the session or the run, and leave.
  void visit() {
    client_options<nothing> chosen;
    with_session_id{session}.apply(chosen);
    with_keep{1min}.apply(chosen);
    with_resume{}.apply(chosen);
    if (pick(2) == 0)
      with_take_over{}.apply(chosen);
    else
      with_attach{true}.apply(chosen);
    state_of<visitor>(spawn_client<visitor>())
      .open(any_runtime().front_desk(), request(chosen), nullptr, nullptr);
  }

  void abort_run() {
    const auto& key = clerk->info().key;
    if (pick(2) == 0)
      caf::anon_send(any_runtime().front_desk(),
                     run_request{run_verb::abort, {}, key, session});
    else
      caf::anon_send(store, abort_run_request{{key, {}, session}});
  }

  /// Kills the talker. Another process goes on with what this one has heard.
  void replace_client() {
    const auto before = std::exchange(who, spawn_client<talker>());
    ++replaced;
    client().go_on_from(state_of<talker>(before));
    caf::anon_send_exit(before, caf::exit_reason::kill);
    run_some(pick(3));
  }

  /// Has the store die, once for each of its starts.
  void kill_store() {
    if (failing.starts() == deaths)
      return;
    deaths = failing.starts();
    ++store_kills;
    failing.die_next();
    store_has_died = true;
  }

  /// Does something that ends the connection of a client with an error.
  void make_trouble() {
    switch (pick(10)) {
      case 0:
        stop_other();
        start_other();
        break;
      case 1:
      case 2: visit(); break;
      case 3:
      case 4: abort_run(); break;
      case 5: kill_store(); break;
      case 6:
      case 7: replace_client(); break;
      default:
        if (client().is_open())
          client().detach();
        break;
    }
  }

  /// Cuts the link of the client, and lets its run crash or live on.
  void cut(bool crashes) {
    const auto last = std::exchange(link, nullptr);
    if (!last)
      return;
    auto* found = caf::actor_cast<caf::abstract_actor*>(last);
    if (found->getf(caf::abstract_actor::is_terminated_flag))
      return; // without a state
    const auto peer = static_cast<link_actor*>(found)->state.peer;
    caf::anon_send_exit(last, caf::exit_reason::remote_link_unreachable);
    ++cuts;
    if (crashes && peer) {
      ++kills;
      caf::anon_send_exit(peer, caf::exit_reason::kill);
    }
  }

  void check_history() {
    const auto found
      = ask<stored_session>(
          get_session_request{session_ref{clerk->info().key, session}})
          .content;
    std::vector<std::string> expected;
    for (int i = 0; i < client().turns; ++i) {
      expected.push_back(std::to_string(i));
      expected.emplace_back("done");
    }
    std::vector<std::string> told;
    for (const auto& x : found.messages())
      if (const auto text = x.text(); !text.empty() && text != "one moment ")
        told.push_back(text);
    ASSERT_EQ(told, expected);
    for (int i = 0; i < client().turns; ++i)
      ASSERT_EQ(office.effects[std::to_string(i)], 1) << i;
  }

  /// Asks the store, which may be starting again.
  template <class Answer, class Question>
  Answer ask(const Question& question) {
    Answer result;
    caf::scoped_actor self{system};
    auto is_read = false;
    for (int i = 0; i < 60 && !is_read; ++i) {
      auto pending = self->request(store, 10s, question);
      advance(1s);
      pending.receive(
        [&](Answer& x) {
          result = std::move(x);
          is_read = true;
        },
        [](const caf::error&) {});
    }
    EXPECT_TRUE(is_read);
    return result;
  }

  /// Checks that each run of the session has ended as its clients have heard.
  void check_runs() {
    list_runs_request question;
    question.agent = clerk->info().key; // with the session: a short search
    question.session = session;
    const auto found = ask<run_page>(question);
    ASSERT_FALSE(found.runs.empty());
    for (const auto& x : found.runs) {
      if (heard.has_output_of(x.id)) {
        ASSERT_EQ(x.status, run_status::completed) << x.id.str();
        continue;
      }
      // The last word of a connection that is killed may be lost with a store
      // that dies; then only the time of the store tells that it has expired.
      const auto is_over = x.status == run_status::completed
                           || x.status == run_status::aborted
                           || x.status == run_status::failed;
      ASSERT_TRUE(is_over
                  || (store_has_died && x.status == run_status::running))
        << x.id.str() << " is " << name_of(x.status);
    }
  }

  /// Plays one sequence.
  void play(unsigned seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    random.seed(seed);
    session = session_id{"s" + std::to_string(seed)};
    office.clear();
    heard = {};
    run();
    const auto before = extra_actors();
    who = spawn_client<talker>();
    client().all = &heard;
    client().turns = 1 + pick(4);
    // Only a turn with a name is known after an error, so each one has a
    // connection of its own if there are any.
    const auto has_trouble = pick(3) > 0;
    client().one_turn = has_trouble;
    store_has_died = false;
    open();
    for (int i = 0; i < 400 && !client().output; ++i) {
      switch (pick(16)) {
        case 0: cut(true); break;
        case 1: cut(false); break;
        case 2: advance(std::chrono::milliseconds{pick(2'000)}); break;
        case 3: add_listener(); break;
        case 4: move_listener(); break;
        case 5:
          if (has_trouble)
            make_trouble();
          break;
        default: run_some(pick(30)); break;
      }
      if (!client().is_open() && !client().output)
        open();
    }
    for (int i = 0; i < 300 && !client().output; ++i) {
      run();
      advance(1s);
      if (!client().is_open() && !client().output)
        open();
    }
    ASSERT_TRUE(client().output)
      << client().heard.size() - 1 << " of " << client().turns
      << " turns were heard, and " << client().errors.size()
      << " errors, at last " << client().last_error;
    ASSERT_NO_FATAL_FAILURE(client().check_turns());
    check_history();
    for (const auto code : client().errors)
      ASSERT_TRUE(code == errc::unavailable || code == errc::aborted
                  || code == errc::cancelled // its session was taken over
                  || code == errc::failed_precondition
                  || code == errc::deadline_exceeded)
        << to_string(code) << ": " << client().last_error;
    errors += client().errors.size();
    watchers.push_back(std::exchange(who, nullptr));
    for (const auto& x : watchers)
      caf::anon_send_exit(x, caf::exit_reason::user_shutdown);
    watchers.clear();
    link = nullptr;
    advance(11min);
    ASSERT_EQ(extra_actors(), before);
    check_runs();
    agreed += heard.agreed();
  }

  session_id session;
  caf::actor who;
  std::vector<caf::actor> watchers;
  heard_runs heard;
  int cuts = 0;
  int kills = 0;
  int replaced = 0;
  int store_kills = 0;
  std::uint32_t deaths = 0; ///< start of the store that was to die last
  bool store_has_died = false;
  std::size_t errors = 0;
  std::uint64_t agreed = 0;
};

} // namespace

TEST_F(reopened_sequences, each_text_is_said_once_and_each_turn_ends_once) {
  for (unsigned seed = 0;
       seed < by_effort(100u, 1'000u, 100'000u) && !HasFatalFailure(); ++seed)
    play(seed);
  EXPECT_GT(kills, 0);
  EXPECT_GT(store_kills, 0);
  EXPECT_GT(replaced, 0);
  EXPECT_GT(errors, 0u);
  EXPECT_GT(agreed, 0u) << "listeners have heard the same";
  RecordProperty("cuts", cuts);
  RecordProperty("kills", kills);
}

} // namespace tertulia::test::reopened_sequence_tests
