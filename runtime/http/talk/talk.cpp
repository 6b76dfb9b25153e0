// SPDX-License-Identifier: BSD-3-Clause

#include "talk.hpp"

#include <tertulia/detail/actor_connection.hpp>
#include <tertulia/detail/send_here.hpp>
#include <tertulia/detail/text.hpp>
#include <tertulia/detail/without_clock.hpp>
#include <tertulia/json.hpp>
#include <tertulia/type_ids.hpp>

#include <caf/actor_cast.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <cstdint>
#include <string>
#include <utility>

#include "ask.hpp"
#include "message/error_body.hpp"
#include <fmt/format.h>

namespace tertulia::web {

namespace {

/// Option of a client: the terms, as `action.open` takes them.
struct terms_option {
  const open_terms& terms;

  void apply(client_options<json>& to) const {
    to.connection = terms.options;
    if (terms.init)
      to.init = terms.init.to_json();
    to.inputs = terms.inputs;
    to.closes = terms.closes;
  }
};

/// Refusals that wait for a client, as a multiple of `talk::room`.
constexpr std::size_t most_refusals = 4;

/// Returns the answer to an opening, as text at once: most calls have one.
std::string text_of(const open_result& x) {
  const auto& at = x.attached;
  auto result = fmt::format(
    R"({{"next":{},"turn":{},"inputs":{},"inTurn":{},"turnFound":)", at.next,
    at.turn, at.inputs, at.is_in_turn);
  append_json_text(result, x.turn);
  const auto add = [&](const char* member, const std::string& text) {
    if (text.empty())
      return;
    result.append(",\"").append(member).append("\":");
    append_json_text(result, text);
  };
  add("run", at.run.str());
  add("session", x.session.str());
  add("snapshot", x.snapshot.str());
  add("trace", x.trace_id);
  return result += '}';
}

class talk_state : public detail::actor_connection {
public:
  using in_type = json;
  using out_type = json;
  using stream_type = json;

  static inline const char* name = "tertulia.http_client";

  explicit talk_state(caf::event_based_actor* self) : actor_connection(self) {}

  // NOLINTNEXTLINE(bugprone-exception-escape): without memory the process ends
  ~talk_state() override {
    if (to_)
      to_->end();
  }

  caf::behavior make_behavior(const json_action& action, open_terms& terms,
                              std::shared_ptr<channel<frame>> to) {
    to_ = std::move(to);
    answers_once_ = terms.answers_once;
    has_position_text_ = terms.has_position_text;
    answers_ = terms.answers;
    is_guest_ = terms.answers.allows_only_answers && terms.options.attach;
    redacts_ = terms.redacts;
    caller_ = terms.options.caller.value_or(caller_name{});
    terms.closes = terms.closes && may_end();
    open_run(action, terms);
    return {
      [this](chunk_batch& x) { handle(x); },
      [this](const input_credit& x) { handle(x); },
      [this](turn_end& x) { handle(x); },
      [this](completion& x) { return handle(x); },
      [this](payload& input) { take(std::move(input)); },
      [this](caf::close_atom) {
        if (may_end())
          close();
      },
      [this](cancel_atom) {
        if (may_end())
          cancel();
      },
      [this](caf::tick_atom) {
        written_ = 0;
        refused_ = 0;
        resume();
      },
      [this](caf::flush_atom) {
        if (has_ended_)
          return;
        is_flushing_ = true;
        on_inputs_sent();
      },
      [this](caf::ok_atom) {
        if (const auto [run, reader] = ended_; run)
          detail::send_here(run, run_request{run_verb::confirm, reader});
      },
      [](caf::ping_atom) { return caf::pong_atom_v; },
      [this](caf::leave_atom) { leave(); },
      [this](caf::leave_atom, caf::pending_atom) { leave_after_turn(); },
    };
  }

private:
  void open_run(const json_action& action, open_terms& terms) {
    try {
      return action.open(*this, terms_option{terms});
    } catch (const status_error& x) {
      if (terms.inputs.empty() || terms.options.turn)
        return on_error(x);
    }
    // If one of the inputs is not taken, the run is opened all the same.
    auto inputs = std::exchange(terms.inputs, {});
    const auto closes = std::exchange(terms.closes, false);
    open_run(action, terms);
    for (auto& input : inputs)
      take(std::move(input));
    if (closes)
      close();
  }

  void take(payload input) {
    if (has_ended_)
      return; // nothing follows the end
    try {
      if (const auto* document = input.get_if<json>())
        answers_.check(*document);
      send_input(std::move(input));
    } catch (const status_error& x) {
      refuse(x);
    }
  }

  void leave() {
    detach();
    self()->quit();
  }

  /// Asks the run, because other clients send inputs, and a turn may take
  /// several. The end of a turn under way arrives behind its answer.
  void leave_after_turn() {
    if (!conversation_)
      return leave();
    run_request question{run_verb::inspect, 0};
    question.caller = caller_;
    // No time-out: the server waits for `drain_within` only.
    static_cast<caf::event_based_actor*>(self())
      ->request(conversation_, caf::infinite, std::move(question))
      .then(
        [this](const run_info& x) {
          is_leaving_ = x.is_in_turn;
          if (!is_leaving_)
            leave();
        },
        [this](const caf::error&) { leave(); });
  }

  /// Returns whether the client may end the run, and tells it if not.
  bool may_end() {
    if (!is_guest_)
      return true;
    refuse({errc::permission_denied, "the run is that of somebody else"});
    return false;
  }

  void refuse(const status_error& x) {
    if (has_ended_)
      return;
    auto error = redacts_.error(x.code(), error_document(x));
    refused_ += error.text.size();
    push(frame_kind::refusal, std::move(error.text), error.code);
    // A client that does not read may send for ever.
    if (refused_ > most_refusals * talk::room) {
      detach();
      ended_ = {}; // the client does not get the end of the run
      on_error({errc::resource_exhausted, "the refusals are not read"});
    }
  }

  void push(frame_kind kind, std::string text, errc code = errc::ok,
            std::shared_ptr<const frame_position> where = nullptr) {
    frame next{kind, position().number, code, std::move(text),
               std::move(where)};
    written_ += size_of(next);
    const auto is_full = written_ > talk::room;
    to_->push(std::move(next), !answers_once_ || is_full
                                 || kind == frame_kind::refusal
                                 || is_last(kind));
    if (is_full)
      pause();
  }

  /// Ends the channel. If the run waits for its client, the actor lives on
  /// until the program has confirmed the end, or leaves.
  void end() {
    has_ended_ = true;
    to_->end();
    if (!ended_.first)
      self()->quit();
  }

  void on_open(const open_result& x) override {
    if (!x.session.empty())
      conversation_ = caf::actor_cast<run_actor>(x.connection);
    push(frame_kind::opened, has_position_text_ ? text_of(x) : std::string{},
         errc::ok,
         std::make_shared<frame_position>(
           frame_position{x.attached.run, x.session, x.snapshot, {}}));
  }

  void on_inputs_sent() override {
    if (is_flushing_ && unsent_inputs() == 0) {
      is_flushing_ = false;
      push(frame_kind::flushed, "{}");
    }
  }

  void on_turn_end() override {
    push(frame_kind::turn_end,
         has_position_text_ ? text_of_end() : std::string{}, errc::ok,
         std::make_shared<frame_position>(
           frame_position{{}, {}, last_snapshot(), finish_reason()}));
    if (is_leaving_)
      leave();
  }

  [[nodiscard]] std::string text_of_end() const {
    json info = json::object();
    if (last_snapshot())
      info["snapshot"] = last_snapshot().str();
    if (const auto reason = finish_reason())
      info["finishReason"] = to_json(*reason);
    return line_of(info);
  }

  void on_error(const status_error& x) override {
    auto error = redacts_.error(x.code(), error_with_state(x));
    push(frame_kind::error, std::move(error.text), error.code);
    end();
  }

  /// Returns an error with the state of a conversation whose session was the
  /// only place of it.
  [[nodiscard]] json error_with_state(const status_error& x) const {
    auto result = error_document(x);
    const auto& state = state_of_last();
    if (!state)
      return result;
    try {
      auto document = state.to_json();
      auto& details = result["details"];
      if (!details.is_object())
        details = json::object();
      details["state"] = std::move(document);
    } catch (const status_error&) {
      return error_document(x); // the state has no JSON
    }
    return result;
  }

  // What has arrived here may still be lost on its way to the program.
  void confirm_end(const connection_actor& run,
                   const detail::client_end& end) override {
    if (end.run())
      ended_ = {caf::actor_cast<run_actor>(run), end.reader()};
  }

  void read(chunk_batch x) override {
    if (answers_once_)
      return;
    try {
      push(frame_kind::chunks, redacts_.chunks(x.items.text()));
    } catch (const status_error& error) {
      reject(to_error(error));
    }
  }

  void read(payload x) override {
    try {
      push(frame_kind::output,
           redacts_.text(outgoing_kind::output, x ? x.text() : "null"));
    } catch (const status_error& error) {
      return on_error(error);
    }
    end();
  }

  std::shared_ptr<channel<frame>> to_;
  /// Run that has ended, and the number of this client there.
  std::pair<run_actor, std::uint32_t> ended_;
  std::size_t written_ = 0; ///< bytes since the program has taken all
  std::size_t refused_ = 0; ///< bytes of refusals among them
  bool answers_once_ = false;
  bool has_position_text_ = true;
  bool is_guest_ = false; ///< in the run of somebody else
  answer_rule answers_;
  redaction redacts_;
  caller_name caller_;
  run_actor conversation_;  ///< null for the run of another action
  bool is_leaving_ = false; ///< at the end of the turn
  bool is_flushing_ = false;
  bool has_ended_ = false;
};

} // namespace

talk::talk(caf::actor_system& system, const json_action& action,
           std::unique_ptr<open_terms> terms,
           std::shared_ptr<channel<frame>> to)
  : client_(detail::spawn_here(
    system,
    [](detail::without_clock<caf::stateful_actor<talk_state>>* self,
       const json_action& action, const std::unique_ptr<open_terms>& terms,
       std::shared_ptr<channel<frame>> to) {
      return self->state.make_behavior(action, *terms, std::move(to));
    },
    action, std::move(terms), std::move(to))) {}

talk::~talk() {
  if (client_) // else dropped: nobody would get the message
    leave();
}

void talk::send(payload input) const {
  detail::send_here(client_, std::move(input));
}

void talk::close() const {
  detail::send_here(client_, caf::close_atom_v);
}

void talk::cancel() const {
  detail::send_here(client_, cancel_atom_v);
}

net::awaitable<void>
talk::wait_until_taken(net::any_io_executor executor) const {
  for (auto is_waiting = true; is_waiting;)
    try {
      // Its answer comes behind the inputs that wait in the mailbox.
      co_await ask<caf::pong_atom>(client_->home_system(), client_,
                                   caf::ping_atom_v, executor);
      is_waiting = false;
    } catch (const status_error& x) {
      // A client that has ended drops what is sent to it.
      is_waiting = x.code() == errc::deadline_exceeded;
    }
}

void talk::flush() const {
  detail::send_here(client_, caf::flush_atom_v);
}

void talk::confirm() const {
  detail::send_here(client_, caf::ok_atom_v);
}

void talk::leave() const {
  detail::send_here(client_, caf::leave_atom_v);
}

void talk::leave_after_turn() const {
  detail::send_here(client_, caf::leave_atom_v, caf::pending_atom_v);
}

void talk::drained() const {
  detail::send_here(client_, caf::tick_atom_v);
}

} // namespace tertulia::web
