// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/errands.hpp"
#include "support/run_listeners.hpp"

namespace tertulia::test {

/// What the client has heard of one turn, and how often the turn has ended.
struct heard_turn {
  std::string text;
  int ends = 0;
  bool is_cut = false; ///< whether it has ended in another run, unheard
};

/// Client that says "0", "1", … in one turn each.
struct talker : actor_client<errands::clerk_type> {
  using actor_client::actor_client;

  void on_open(const open_result&) override {
    was_open = true;
    sequence.begin({});
    is_asked = turn_found() == turn_progress::not_begun;
    if (turn_found() == turn_progress::over)
      end_turn(); // of before, and unheard
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
    const auto text = x.chunk ? x.chunk->text() : "";
    heard.back().text += text;
    sequence.hear(*all, position(), text);
  }

  void on_turn_end() override {
    heard.back().is_cut
      = sequence.last().run && sequence.last().run != position().run;
    sequence.hear(*all, position(), "the turn has ended");
    end_turn();
  }

  void end_turn() {
    ++heard.back().ends;
    heard.emplace_back();
    is_asked = true;
    if (one_turn)
      close();
  }

  void on_output(out_type& x) override {
    all->note_output(position().run);
    if (heard.size() > static_cast<std::size_t>(turns))
      output = std::move(x);
  }

  void on_error(const status_error& x) override {
    errors.push_back(x.code());
    last_error = x.what();
    EXPECT_TRUE(one_turn || !was_open) << x.what();
  }

  /// Goes on in the place of another one, with the turns that it has heard.
  void go_on_from(const talker& x) {
    turns = x.turns;
    one_turn = x.one_turn;
    heard = x.heard;
    heard.back() = {};
    output = x.output;
    errors = x.errors;
    last_error = x.last_error;
    all = x.all;
  }

  /// Checks that it has heard each turn, once and with its answer or, if it was
  /// over before, without.
  void check_turns() const {
    ASSERT_EQ(heard.size(), static_cast<std::size_t>(turns) + 1);
    for (auto x = heard.begin(); x + 1 != heard.end(); ++x) {
      ASSERT_EQ(x->ends, 1);
      ASSERT_TRUE(x->text.empty() || x->text.ends_with("done") || x->is_cut)
        << x->text;
    }
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
  heard_runs* all = nullptr;
  heard_sequence sequence;
};

/// Client that comes and goes at once.
struct visitor : actor_client<errands::clerk_type> {
  using actor_client::actor_client;

  void on_open(const open_result&) override {
    detach();
    self()->quit();
  }

  void on_chunk(stream_type&) override {}

  void on_error(const status_error&) override {
    self()->quit();
  }
};

} // namespace tertulia::test
