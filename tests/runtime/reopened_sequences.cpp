// SPDX-License-Identifier: BSD-3-Clause

// Random sequences of lost links, of crashes of the runs of a conversation and
// of its store. The client comes back: to the same runtime or to another one
// with the same store.

#include <tertulia/actor_client.hpp>
#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/ask_store.hpp>
#include <tertulia/store_supervisor.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/deterministic.hpp"
#include "support/effort.hpp"
#include "support/failing_store.hpp"

using namespace std::literals;

namespace tertulia::test::reopened_sequence_tests {

namespace {

using strings = std::vector<std::string>;

using clerk_type = ai::session_flow<nothing, nothing>;

struct errand {
  std::string what;
  BOOST_DESCRIBE_CLASS(errand, (), (what), (), ())
};

/// Requests the tool once for each text of the user, and says that it is done.
task<ai::model_response> answer(context, ai::generate_request request,
                                ai::model_output out) {
  const auto& last = request.messages.back();
  if (last.role == ai::role::user) {
    auto said = ai::model_text("one moment ");
    co_await out.send_text(said.text());
    said.content.push_back(
      ai::part::request("do", {{"what", last.text()}}, "r"));
    co_return ai::model_response{std::move(said), ai::finish_reason::stop};
  }
  co_await out.send_text("done");
  co_return ai::model_response{ai::model_text("done"), ai::finish_reason::stop};
}

/// What the client has heard of one turn, and how often the turn has ended.
struct heard_turn {
  std::string text;
  int ends = 0;
};

/// Client that says "0", "1", … in one turn each.
struct talker : actor_client<clerk_type> {
  using actor_client::actor_client;

  void on_open(const open_result&) override {
    was_open = true;
    is_asked = turn_found() == turn_progress::not_begun;
    if (turn_found() == turn_progress::over)
      on_turn_end(); // of before, and unheard
  }

  void on_credit() override {
    if (!is_asked)
      return; // the turn is under way, or over
    if (said == turns)
      return close();
    is_asked = false;
    ai::conversation_input text{{ai::user_text(std::to_string(said++))}};
    send(std::move(text));
  }

  void on_chunk(stream_type& x) override {
    if (x.chunk)
      heard[heard.size() - 1].text += x.chunk->text();
  }

  void on_turn_end() override {
    ++heard.back().ends;
    heard.emplace_back();
    is_asked = true;
    if (one_turn)
      close();
  }

  void on_output(out_type& x) override {
    if (heard.size() > static_cast<std::size_t>(turns))
      output = std::move(x);
  }

  void on_error(const status_error& x) override {
    errors.push_back(x.code());
    last_error = x.what();
    EXPECT_TRUE(one_turn || !was_open) << x.what();
  }

  int turns = 0;
  int said = 0;
  bool is_asked = false; ///< whether the next text is to be sent
  bool one_turn = false; ///< in each connection
  bool was_open = false;
  std::vector<heard_turn> heard{1};
  std::optional<out_type> output;
  std::vector<errc> errors;
  std::string last_error;
};

/// Passes everything on between a client and its connection, until one of them
/// is gone. Stands for the link between two nodes.
struct link_state {
  explicit link_state(caf::event_based_actor* self) : self(self) {}

  caf::behavior make_behavior(const front_desk_actor& desk) {
    self->set_down_handler([this](const caf::down_msg&) { self->quit(); });
    return {[this, desk](open_request& x) -> caf::result<open_result> {
      client = caf::actor_cast<caf::actor>(x.client);
      self->monitor(client);
      x.client
        = caf::actor_cast<chunk_sink>(caf::strong_actor_ptr{self->ctrl()});
      auto answer = self->make_response_promise<open_result>();
      self->request(desk, caf::infinite, std::move(x))
        .then(
          [this, answer](open_result& y) mutable {
            peer = caf::actor_cast<caf::actor>(y.connection);
            self->monitor(peer);
            y.connection = caf::actor_cast<connection_actor>(
              caf::strong_actor_ptr{self->ctrl()});
            self->set_default_handler(
              [this](caf::scheduled_actor*, caf::message_view& found) {
                return pass(found.move_content_to_message());
              });
            answer.deliver(std::move(y));
          },
          [answer](caf::error& reason) mutable {
            answer.deliver(std::move(reason));
          });
      return answer;
    }};
  }

  caf::result<caf::message> pass(caf::message x) {
    const auto is_end = x.match_elements<completion>();
    const auto& from = self->current_sender();
    if (from && from->address() == peer.address())
      self->send(client, std::move(x));
    else
      caf::anon_send(peer, std::move(x));
    if (is_end)
      self->quit();
    return caf::message{};
  }

  caf::event_based_actor* self;
  caf::actor client;
  caf::actor peer; ///< the connection
};

using link_actor = caf::stateful_actor<link_state>;

/// Guide that finds a new desk each time, after a pause.
struct guide_state {
  explicit guide_state(caf::event_based_actor* self) : self(self) {}

  caf::behavior make_behavior(std::function<front_desk_actor()> find) {
    self->set_down_handler([this](const caf::down_msg& x) {
      if (desk && x.source == desk.address() && std::exchange(watches, false))
        lost.deliver(fail(errc::unavailable, "the desk was lost"));
    });
    return {
      [this](caf::connect_atom, const caf::error&) -> caf::result<caf::actor> {
        end_watch();
        found = self->make_response_promise<caf::actor>();
        self->delayed_send(self, 50ms, caf::tick_atom_v);
        return found;
      },
      [this, find](caf::tick_atom) {
        desk = find();
        self->monitor(desk);
        found.deliver(caf::actor_cast<caf::actor>(desk));
      },
      [this](caf::monitor_atom) -> caf::result<caf::ok_atom> {
        end_watch();
        watches = true;
        lost = self->make_response_promise<caf::ok_atom>();
        return lost;
      },
      [this](caf::close_atom) {
        end_watch();
        self->quit();
      },
    };
  }

  void end_watch() {
    if (std::exchange(watches, false))
      lost.deliver(fail(errc::cancelled, "another request has followed"));
  }

  caf::event_based_actor* self;
  front_desk_actor desk;
  caf::typed_response_promise<caf::actor> found;
  caf::typed_response_promise<caf::ok_atom> lost;
  bool watches = false;
};

struct reopened_sequences : deterministic {
  /// Way to the desk of either runtime.
  struct way : detail::way_back {
    explicit way(reopened_sequences& of) : of(of) {}

    caf::actor spawn_guide() override {
      return of.system.spawn(
        [this](caf::stateful_actor<guide_state>* self) -> caf::behavior {
          return self->state.make_behavior([this] { return of.any_desk(); });
        });
    }

    reopened_sequences& of;
  };

  reopened_sequences()
    : store(supervise_store(system, failing.factory())), other(system) {
    for (auto* at : {&*rt, &other}) {
      const auto act = ai::define_tool(
        *at, "do", "", [this](ai::tool_context ctx, errand x) -> task<bool> {
          if (calls.insert(ctx.call_id()).second)
            ++effects[x.what];
          co_return true;
        });
      clerks.push_back(ai::define_prompt_agent(
        *at, "clerk",
        ai::prompt{ai::define_model(*at, "clerk", answer), ai::with_tools(act)},
        with_snapshot_store(store)));
    }
    run();
  }

  ~reopened_sequences() override {
    other.stop();
    run();
    caf::anon_send_exit(store, caf::exit_reason::user_shutdown);
    run();
  }

  /// Returns a desk that opens one connection over a new link.
  front_desk_actor any_desk() {
    link = system.spawn(
      [](link_actor* self, const front_desk_actor& desk) -> caf::behavior {
        return self->state.make_behavior(desk);
      },
      pick(2) == 0 ? rt->front_desk() : other.front_desk());
    return caf::actor_cast<front_desk_actor>(link);
  }

  int pick(int below) {
    return std::uniform_int_distribution<int>{0, below - 1}(random);
  }

  void run_some(int steps) {
    for (; steps > 0 && sched.try_run_once(); --steps)
      ;
  }

  talker& client() {
    return static_cast<caf::stateful_actor<talker>*>(
             caf::actor_cast<caf::abstract_actor*>(who))
      ->state;
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
    open_request question{
      clerks[0].info().key, {}, std::move(chosen.connection), {}};
    x.open(any_desk(), std::move(question), nullptr, road);
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
          get_session_request{session_ref{clerks[0].info().key, session}})
          .content;
    strings expected;
    for (int i = 0; i < client().turns; ++i) {
      expected.push_back(std::to_string(i));
      expected.emplace_back("done");
    }
    strings told;
    for (const auto& x : found.messages())
      if (const auto text = x.text(); !text.empty() && text != "one moment ")
        told.push_back(text);
    ASSERT_EQ(told, expected);
    for (int i = 0; i < client().turns; ++i)
      ASSERT_EQ(effects[std::to_string(i)], 1) << i;
  }

  /// Asks the store, which may be starting again.
  template <class Answer, class Question>
  Answer ask(const Question& question) {
    Answer result;
    caf::scoped_actor self{system};
    auto is_read = false;
    for (int i = 0; i < 60 && !is_read; ++i) {
      auto pending = self->request(store, caf::infinite, question);
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

  /// Checks that each run of the session has ended.
  void check_runs() {
    list_runs_request question;
    question.session = session;
    const auto found = ask<run_page>(question);
    ASSERT_FALSE(found.runs.empty());
    for (const auto& x : found.runs)
      ASSERT_NE(x.status, run_status::running) << x.id.str();
  }

  /// Plays one sequence.
  void play(unsigned seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    random.seed(seed);
    session = session_id{"s" + std::to_string(seed)};
    effects.clear();
    calls.clear();
    who = system.spawn([](caf::stateful_actor<talker>* self) {
      return caf::behavior{self->state.handlers()};
    });
    run();
    const auto before = extra_actors();
    client().turns = 1 + pick(4);
    // Only a turn with a name is known after an error, so each one has a
    // connection of its own if there are any.
    const auto has_store_faults = pick(2) == 0;
    client().one_turn = has_store_faults;
    open();
    for (int i = 0; i < 400 && !client().output; ++i) {
      switch (pick(12)) {
        case 0: cut(true); break;
        case 1: cut(false); break;
        case 2:
          // Once for each start of the store.
          if (has_store_faults && failing.starts() > deaths) {
            deaths = failing.starts();
            failing.die_next();
          }
          break;
        case 3: advance(std::chrono::milliseconds{pick(2'000)}); break;
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
    ASSERT_EQ(client().heard.size(),
              static_cast<std::size_t>(client().turns) + 1);
    for (int i = 0; i < client().turns; ++i) {
      const auto& turn = client().heard[static_cast<std::size_t>(i)];
      ASSERT_EQ(turn.ends, 1);
      ASSERT_TRUE(turn.text.empty() || turn.text.ends_with("done"))
        << turn.text;
    }
    check_history();
    for (const auto code : client().errors)
      ASSERT_TRUE(code == errc::unavailable || code == errc::aborted
                  || code == errc::failed_precondition
                  || code == errc::deadline_exceeded)
        << to_string(code);
    errors += client().errors.size();
    caf::anon_send_exit(who, caf::exit_reason::user_shutdown);
    who = nullptr;
    link = nullptr;
    advance(11min);
    ASSERT_EQ(extra_actors(), before - 1);
    // The last word of a connection that is killed may be lost with a store
    // that dies; then only time tells that the run has expired.
    if (!has_store_faults)
      check_runs();
  }

  failing_store failing{system};
  managed_store store;
  runtime other;
  std::vector<clerk_type> clerks;
  std::shared_ptr<way> road = std::make_shared<way>(*this);
  std::map<std::string, int> effects;
  std::set<std::string> calls;
  std::mt19937 random;
  session_id session;
  caf::actor who;
  caf::actor link;
  int cuts = 0;
  int kills = 0;
  std::uint32_t deaths = 0;
  std::size_t errors = 0;
};

} // namespace

TEST_F(reopened_sequences, each_text_is_said_once_and_each_turn_ends_once) {
  for (unsigned seed = 0;
       seed < by_effort(100u, 1'000u, 100'000u) && !HasFatalFailure(); ++seed)
    play(seed);
  EXPECT_GT(kills, 0);
  EXPECT_GT(errors, 0u) << "the store has died, too";
  RecordProperty("cuts", cuts);
  RecordProperty("kills", kills);
}

} // namespace tertulia::test::reopened_sequence_tests
