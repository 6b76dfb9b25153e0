// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>
#include <tertulia/store_contract.hpp>

#include <caf/deep_to_string.hpp>
#include <caf/timestamp.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "store_model.hpp"
#include <fmt/format.h>

namespace tertulia::detail {

/// Comparison of a store with the model of a store: both receive the same
/// requests, and their answers must be equal.
///
/// @threads one at a time.
class store_comparison {
public:
  /// Verb and its arguments, as numbers, so that a failing sequence can be
  /// shrunk.
  using command = std::array<int, 7>;

  /// Numbers in the range [0, verbs) select a verb.
  static constexpr int verbs = 28;

  /// Sends the same requests to a new store of a kind and to the model.
  /// @returns the first difference; empty without one.
  static std::string difference(const store_kind& kind,
                                const std::vector<command>& commands) {
    contract_store real{kind.make_factory()};
    store_comparison pair{real};
    for (const auto& x : commands)
      if (auto text = pair.run(x); !text.empty())
        return text;
    return pair.compare_all();
  }

  explicit store_comparison(contract_store& real) : real_(real) {
    const auto log = store_requests::talk(2).messages();
    states_
      = {store_requests::number(0),
         store_requests::number(1),
         state::plain(payload::of(std::string{"two"})),
         store_requests::talk(0),
         state::conversation(log.prefix(1), {}, {}),
         state::conversation(log, {}, {}),
         state::conversation(log.with_back(ai::user_text("another")), {}, {}),
         store_requests::talk(2).with_custom(payload::of(7)),
         store_requests::version(1, store_requests::number(1)),
         store_requests::version(2, store_requests::number(1)),
         store_requests::version(
           2, store_requests::talk(2).with_custom(payload::of(7))),
         store_requests::talk(2).with_artifact(
           {"file", {ai::part::text("content")}})};
  }

  std::string run(const command& x) {
    const auto [verb, a, b, c, d, e, f] = x;
    const auto of = session(a);
    if (verb < 9)
      return save(of, b, c, d, e, f);
    switch (verb) {
      case 9:
      case 10: return compare(restore_snapshot_request{snapshot(of, b, c, d)});
      case 11:
        return compare(get_snapshot_request{snapshot(of, b, c, d), level(e)});
      case 12: {
        list_snapshots_request y{of};
        y.with_orphans = b % 2 == 0;
        y.detail = level(c);
        y.after = d % 8;
        y.limit = e % 5;
        return compare(y);
      }
      case 13: return compare(get_session_request{of, level(b)});
      case 14: {
        save_session_request y{of, content(b), turn(c), positions(of, d, e, f)};
        if (e % 3 != 0)
          y.inputs = turn(e);
        y.turn = turn_name(f);
        return compare(y);
      }
      case 15:
        if (real_.factory().is_durable())
          real_.reopen();
        return {};
      default: break;
    }
    if (real_.factory().is_managed())
      switch (verb) {
        case 16: {
          list_sessions_request y;
          y.agent = c % 3 == 0 ? "" : of.agent;
          y.label = d % 3 == 0 ? label(d) : "";
          if (e % 2 == 0)
            y.after = of;
          y.limit = f % 4;
          return compare(y);
        }
        case 17:
        case 18: {
          label_snapshot_request y{snapshot(of, b, c, d)};
          y.add = {label(e), label(f)};
          y.remove = {label(e + f)};
          return compare(y);
        }
        case 19: return compare(delete_session_request{of});
        case 20:
        case 21:
          return compare(copy_session_request{
            of, session(b), static_cast<std::uint64_t>(c % 8)});
        case 22: {
          verify_sessions_request y;
          y.agent = b % 3 == 0 ? "" : of.agent;
          y.session = c % 3 == 0 ? of.id : session_id{};
          if (d % 2 == 0) {
            y.after = session(d);
            y.after_record = e % 5;
          }
          y.limit = f % 8;
          return compare(y);
        }
        case 23: {
          const auto size = b % 5 == 0 ? max_title_size + c % 2 : c % 3;
          return compare(title_session_request{of, std::string(size, 'x')});
        }
        case 24:
          return compare(annotate_snapshot_request{snapshot(of, b, c, d),
                                                   std::string(e % 4, 'x')});
        case 25: { // does not change the model
          const auto done = real_(vacuum_store_request{});
          if (const auto* code = std::get_if<errc>(&done))
            return fmt::format("vacuum_store is answered with {}",
                               to_string(*code));
          return {};
        }
        default: {
          prune_snapshots_request y;
          y.agent = b % 4 == 0 ? "" : of.agent;
          y.session = b % 2 == 0 ? session_id{} : of.id;
          y.created_before = c % 2 == 0 ? caf::timestamp::max() : time(d);
          y.keep_newest = e % 6;
          return compare(y);
        }
      }
    return {};
  }

  /// Reads and compares all data.
  std::string compare_all() {
    for (const auto& of : model_.sessions()) {
      list_snapshots_request x{of};
      x.with_orphans = true;
      x.detail = detail_level::state;
      x.limit = max_page;
      if (auto text = compare(x); !text.empty())
        return text;
      if (auto text = compare(get_session_request{of}); !text.empty())
        return text;
    }
    return real_.factory().is_managed() ? compare(list_sessions_request{})
                                        : std::string{};
  }

private:
  std::string save(const session_ref& session, int b, int c, int d, int e,
                   int f) {
    const auto value = content(b);
    std::uint64_t parent = 0;
    if (c % 8 == 0) {
      parent = d % 10; // may or may not exist
    } else if (c % 8 != 1) {
      const auto known = model_(get_session_request{session});
      if (known.index() == 0)
        parent = std::get<0>(known).info.head;
    }
    auto saved = store_requests::record(session, value, parent);
    saved.turn_index = turn(d);
    if (turn(d) % 2 == 0)
      saved.finish_reason = ai::finish_reason::length;
    if (turn(d) % 3 != 0)
      saved.inputs = turn(d) + 1;
    saved.event = static_cast<snapshot_event>(e % 3);
    saved.created_at = time(d + e);
    if (e % 4 == 0)
      saved.id = snapshot_id{"snapshot-" + std::to_string(d % 4)};
    auto where = d % 2 == 0 ? append_rule::at_head : append_rule::anywhere;
    if (f % 4 == 2)
      saved.note = "note";
    if (f % 4 == 3) {
      where = append_rule::as_it_was;
      saved.sequence = f;
      saved.index = e;
    }
    save_snapshot_request change{std::move(saved), value, where,
                                 positions(session, e + f, b, c)};
    change.turn = turn_name(f);
    return compare(std::move(change));
  }

  /// Returns the positions that a change may follow: any, the right one, or
  /// another one and sometimes the right one.
  std::vector<session_position> positions(const session_ref& session, int a,
                                          int b, int c) const {
    const auto right = model_.position(session);
    if (a % 4 == 1)
      return {right};
    if (a % 4 != 2)
      return {};
    const auto& other = content(b);
    std::vector<session_position> result;
    result.emplace_back(turn(c), other.id(), other.type());
    if (c % 2 == 0)
      result.push_back(b % 3 == 0 ? session_position{} : right);
    return result;
  }

  static std::optional<turn_id> turn_name(int x) {
    return x % 3 == 0 ? std::nullopt
                      : std::optional{turn_id{"turn-" + std::to_string(x % 4)}};
  }

  static session_ref session(int x) {
    return store_requests::at(std::to_string(x % 3),
                              x % 2 == 0 ? "/agent/a" : "/agent/b");
  }

  snapshot_ref snapshot(const session_ref& session, int b, int c, int d) {
    const auto id = d % 4 == 0
                      ? snapshot_id{"snapshot-" + std::to_string(c % 4)}
                      : store_requests::id_of(content(c));
    switch (b % 4) {
      case 0: return {session, static_cast<std::uint64_t>(c % 10)};
      case 1: return {session.agent, {}, id};
      case 2: {
        snapshot_ref result{session.agent, session.id, id};
        result.sequence = d % 10;
        return result;
      }
      default: return {session.agent, session.id, id};
    }
  }

  [[nodiscard]] const state& content(int x) const {
    return states_[x % states_.size()];
  }

  static detail_level level(int x) {
    return x % 2 == 0 ? detail_level::state : detail_level::record;
  }

  static std::uint64_t turn(int x) {
    return x % 5;
  }

  static caf::timestamp time(int x) {
    return caf::timestamp{std::chrono::seconds{x % 10}};
  }

  static std::string label(int x) {
    return std::string{"label "} + static_cast<char>('a' + x % 3);
  }

  /// Sends a request to both and compares the answers.
  template <class Verb>
  std::string compare(const Verb& x) {
    const auto actual = text_of(real_(x));
    const auto expected = text_of(model_(x));
    if (actual == expected)
      return {};
    return fmt::format("{}\n  is answered with {}\n  instead of {}",
                       caf::deep_to_string(x), actual, expected);
  }

  template <class T>
  static std::string text_of(std::variant<T, errc> x) {
    if (const auto code = std::get_if<errc>(&x))
      return std::string{to_string(*code)};
    auto& answer = std::get<0>(x);
    if constexpr (std::is_same_v<T, session_info>)
      forget_times(answer);
    if constexpr (std::is_same_v<T, stored_session>)
      forget_times(answer.info);
    if constexpr (std::is_same_v<T, session_page>)
      for (auto& y : answer.sessions)
        forget_times(y);
    return caf::deep_to_string(answer);
  }

  /// Clears the times, because the model has no clock.
  static void forget_times(session_info& x) {
    x.created_at = {};
    x.updated_at = {};
  }

  contract_store& real_;
  store_model model_;
  std::vector<state> states_;
};

} // namespace tertulia::detail
