// SPDX-License-Identifier: BSD-3-Clause

// Implements `tertulia chat`: reads lines and sends them to the agent.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chat.hpp"
#include "chat_commands.hpp"
#include "commands.hpp"
#include "data_file.hpp"
#include "line_reader.hpp"
#include "output/shown_text.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>
#include <unistd.h>

namespace tertulia::tool {

namespace {

struct chat_options {
  std::string model;
  std::string session;
  bool begin_new = false;
  bool quiet = false;
  bool watch = false;
};

class chat_loop {
public:
  chat_loop(tool& t, const chat_options& o)
    : tool_(t), options_(o), at_terminal_(::isatty(STDIN_FILENO) == 1
                                          && (::isatty(STDOUT_FILENO) == 1
                                              || ::isatty(STDERR_FILENO) == 1)),
      reader_(at_terminal_ ? terminal_reader(o.quiet ? "" : "> ")
                           : plain_reader()) {}

  exit_code run() {
    auto& store = tool_.store_or([] { return data_file("chat.db"); });
    std::optional<runtime> rt;
    std::optional<chat_partner> agent;
    const auto* program = store.program();
    if (program != nullptr) {
      agent.emplace(*program, tool_.address().key);
    } else {
      rt.emplace(store.system());
      agent.emplace(*rt, store.store(), options_.model,
                    at_terminal_ && talkative() ? reading_pause
                                                : caf::timespan{0});
    }
    chat talk{tool_, *agent,
              options_.quiet ? chat_manner::quiet : chat_manner::talkative,
              at_terminal_ && !options_.watch ? ctrl_c::cancels_turn
                                              : ctrl_c::ends_process,
              program != nullptr ? run_life::is_kept : run_life::ends};
    enter(talk);
    if (options_.watch) {
      talk.watch();
      return result_;
    }
    report_failure([&] { talk.hear_answer_under_way(); });
    auto interrupts = 0;
    for (std::string line; !talk.ended();) {
      switch (reader_->next(line)) {
        case line_end::end_of_input: return result_;
        case line_end::interrupted:
          if (++interrupts > 1)
            return exit_code::interrupted;
          if (talkative())
            remark("Ctrl-C again quits, as Ctrl-D and /quit do.");
          break;
        case line_end::typed:
          interrupts = 0;
          do_line(talk, line);
          break;
      }
    }
    return result_;
  }

private:
  /// Pause between the words of a local model, which has all of them at once.
  static constexpr caf::timespan reading_pause = std::chrono::milliseconds{30};

  [[nodiscard]] bool talkative() const noexcept {
    return !options_.quiet && !tool_.as_json();
  }

  /// Enters the requested session, or else the last one, or else a new one.
  void enter(chat& talk) {
    std::vector<std::string> before;
    try {
      std::optional<session_info> found;
      if (!options_.session.empty())
        found = requested(talk);
      else if (!options_.begin_new)
        found = last_chat_session(tool_, talk.session().agent);
      if (found)
        talk.go_to(*found);
      else
        talk.begin();
      if (at_terminal_)
        before = talk.earlier_texts();
    } catch (const failure& x) {
      if (x.code() != exit_code::damaged)
        throw;
      enter_damaged(x, talk);
    }
    if (!at_terminal_)
      return;
    for (const auto& x : before)
      if (shown(x) == x) // a single line that is safe to show
        reader_->remember(x);
    if (!talkative() || options_.watch)
      return;
    remark(fmt::format("Talk to {}; /help lists the commands, Ctrl-D quits.",
                       shown(talk.agent().name())));
    if (!before.empty())
      remark(
        fmt::format("Your last message: “{}”. /new starts a new conversation.",
                    one_line(before.back())));
  }

  /// Returns the session that was named. One whose first answer is under way is
  /// not in the store yet.
  [[nodiscard]] session_info requested(chat& talk) const {
    const auto agent = talk.session().agent;
    try {
      return find_chat_session(tool_, agent, options_.session);
    } catch (const failure& x) {
      if (x.code() != exit_code::not_found
          || !talk.is_live(session_id{options_.session}))
        throw;
    }
    session_info result;
    result.agent = agent;
    result.id = session_id{options_.session};
    return result;
  }

  /// Reports the failure of an action, unless nobody can read it.
  void report_failure(const std::function<void()>& action) {
    try {
      action();
    } catch (const closed_pipe&) {
      throw;
    } catch (const broken_output&) {
      throw;
    } catch (...) {
      note(current_failure());
    }
  }

  /// Handles a damaged session. If it was requested by id, the chat stays in
  /// it, so that the user can restore an intact snapshot; otherwise it starts a
  /// new session.
  void enter_damaged(const failure& damage, chat& talk) {
    note(
      options_.session.empty()
        ? failure{damage.code(), damage.why(),
                  fmt::format(
                    "This is a new conversation. To return to an undamaged "
                    "snapshot of the other one: /resume {}, then /restore ID.",
                    to_string(talk.session().id))}
        : damage);
    if (options_.session.empty())
      talk.begin();
  }

  /// Reports a failure. At a terminal the chat continues; otherwise the failure
  /// also sets the exit code.
  void note(const failure& x) {
    report(x, tool_.as_json());
    if (!at_terminal_)
      result_ = x.code();
  }

  void do_line(chat& talk, const std::string& line) {
    if (line.find_first_not_of(" \t\r") == std::string::npos)
      return;
    reader_->remember(line);
    report_failure([&] {
      if (is_chat_command(line))
        run_chat_command(talk, line);
      else
        talk.send(chat_text(line));
    });
    tool_.out().flush();
  }

  tool& tool_;
  const chat_options& options_;
  bool at_terminal_;
  std::unique_ptr<line_reader> reader_;
  exit_code result_ = exit_code::fine;
};

exit_code run_chat(tool& t, const chat_options& o) {
  if (!o.session.empty() && o.begin_new)
    reject_usage("--new and --session exclude each other");
  if (t.is_connected() && !o.model.empty())
    reject_usage(
      "--model does not apply to a running program, which chooses the model");
  if (!t.is_connected() && o.watch)
    reject_usage("--watch needs a running program", "Add --connect HOST:PORT.");
  return chat_loop{t, o}.run();
}

} // namespace

void add_chat(CLI::App& root, command& chosen) {
  auto [x, o] = add_command<chat_options>(
    root, chosen, "chat",
    "Talk to an agent that remembers, by default in the conversation that was "
    "changed last; from a pipe it answers each line",
    run_chat);
  add_value(x, "--model", o.model, "NAME",
            fmt::format("Model that answers: {}", model_names()));
  add_value(x, "--session", o.session, "SESSION",
            "Conversation to continue: its id, or the beginning of it");
  x.add_flag("--new", o.begin_new, "Start a new conversation");
  x.add_flag("--watch", o.watch,
             "Only listen to a conversation of a running program, until its "
             "run has ended");
  x.add_flag("-q,--quiet", o.quiet, "Print the answers only");
  x.footer(fmt::format(
    "Without --store the conversations are in tertulia/chat.db below "
    "$XDG_DATA_HOME,\nor below ~/.local/share.\n\n"
    "With --connect the agent is one of a running program. An answer that "
    "is under way\nthere continues without the chat; the next chat prints "
    "it.\n\n"
    "Ctrl-C cancels the answer that is under way; at the prompt it "
    "drops the line, and\ntwice in a row it quits.\n\n"
    "Commands at the prompt:\n{}",
    chat_command_help()));
}

} // namespace tertulia::tool
