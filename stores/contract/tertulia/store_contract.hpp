// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/store_model.hpp>
#include <tertulia/json.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/deep_to_string.hpp>
#include <caf/detail/type_list.hpp>
#include <caf/exit_reason.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/timestamp.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

// What every store has to do: a test suite for whoever writes one. It says
// nothing to the store but the protocol. A store's own test is this:
//
//   #include <tertulia/store_contract.hpp>
//
//   struct my_store_factory {
//     auto open(caf::actor_system& system) { return spawn_my_store(system); }
//   };
//
//   namespace tertulia {
//   INSTANTIATE_TYPED_TEST_SUITE_P(my_store, store_contract, my_store_factory);
//   }
//
// linked with tertulia::store_contract, GoogleTest and rapidcheck. A factory is
// made for each test and gives an empty store when it is first asked; it
// outlives the actor system, so it holds files rather than actors. What a store
// can do beyond that the factory says:
//
//   - `open` returns a managed_store: sessions are listed, labelled, deleted,
//     pruned, copied and verified;
//   - static constexpr bool durable = true: a store that is opened again, after
//     the first one has ended, knows what the first one knew;
//   - void corrupt(const state_id&): changes what the open store keeps of a
//     state; void lose(const state_id&): takes it away.

namespace tertulia {

/// The handle of the stores that a factory opens.
template <class Factory>
using store_of
  = decltype(std::declval<Factory&>().open(std::declval<caf::actor_system&>()));

/// A factory whose stores can be looked after. In CAF 0.17 each typed handle
/// claims to convert to each other one, so what they understand is compared.
template <class T>
concept makes_managed_stores
  = caf::detail::tl_subset_of<typename managed_store::signatures,
                              typename store_of<T>::signatures>::value;

/// A factory whose stores outlive their actors.
template <class T>
concept makes_durable_stores = requires {
  requires T::durable;
};

/// A factory that can damage what its store keeps.
template <class T>
concept corrupts_states = requires(T& x, const state_id& id) {
  x.corrupt(id);
};

/// A factory that can take away what its store keeps.
template <class T>
concept loses_states = requires(T& x, const state_id& id) {
  x.lose(id);
};

/// The suite. `Factory` is as described above.
///
/// @threads each test has an actor system of its own.
/// @design  README §5.15 "Records and states".
template <class Factory>
class store_contract : public ::testing::Test {
public:
  static constexpr bool managed = makes_managed_stores<Factory>;
  static constexpr bool durable = makes_durable_stores<Factory>;

  /// Ends a test that would otherwise hang.
  static constexpr auto patience = std::chrono::seconds{30};

  /// A store of its own, and the door to it.
  class fixture {
  public:
    fixture() : store_(factory_.open(system_)) {}

    fixture(const fixture&) = delete;
    fixture& operator=(const fixture&) = delete;

    ~fixture() {
      close();
    }

    template <class Verb>
    detail::outcome<Verb> operator()(const Verb& x) {
      using answer = detail::answer_to<Verb>;
      detail::outcome<Verb> result{errc::unknown};
      self_->request(store_, patience, x)
        .receive([&](answer& y) { result = std::move(y); },
                 [&](caf::error& y) {
                   auto status = to_status(y);
                   result = status.code();
                   error_ = status;
                 });
      return result;
    }

    /// What the last error said.
    [[nodiscard]] const status_error& error() const {
      return error_;
    }

    Factory& factory() {
      return factory_;
    }

    /// Ends the store and opens it again.
    void reopen() {
      close();
      store_ = factory_.open(system_);
    }

  private:
    void close() {
      self_->send_exit(store_, caf::exit_reason::user_shutdown);
      self_->wait_for(store_);
      store_ = nullptr;
    }

    struct config : caf::actor_system_config {
      config() {
        set("scheduler.max-threads", 2);
      }
    };

    config cfg_;
    Factory factory_;
    caf::actor_system system_{cfg_};
    caf::scoped_actor self_{system_};
    store_of<Factory> store_;
    status_error error_{errc::ok, ""};
  };

  // -- what is said -----------------------------------------------------------

  static state number(int x) {
    return state::plain(payload::of(x));
  }

  /// A conversation of so many messages.
  static state talk(int messages) {
    ai::message_log log;
    for (int i = 0; i < messages; ++i)
      log = log.with(ai::user_text("message " + std::to_string(i)));
    return state::conversation(log, {}, {});
  }

  /// The same under another version of its type.
  static state version(std::uint32_t version, const state& x) {
    return x.with_type(stored_type{"app.memo", version});
  }

  static session_ref at(std::string session, std::string agent = "/agent/a") {
    return {std::move(agent), session_id{std::move(session)}};
  }

  static snapshot_id id_of(const state& x) {
    return snapshot_id{x.id().str()};
  }

  static snapshot_record record(const session_ref& of, const state& content,
                                std::uint64_t parent) {
    snapshot_record result;
    result.agent = of.agent;
    result.session = of.id;
    result.state = content.id();
    result.id = id_of(content);
    result.parent = parent;
    return result;
  }

  template <class Verb>
  detail::outcome<Verb> ask(const Verb& x) {
    return store(x);
  }

  /// The answer, which must not be an error.
  template <class Verb>
  detail::answer_to<Verb> get(const Verb& x) {
    auto result = store(x);
    if (const auto code = std::get_if<errc>(&result)) {
      ADD_FAILURE() << to_string(*code) << ": " << store.error().what();
      return {};
    }
    return std::get<0>(std::move(result));
  }

  /// The code of the error; `errc::ok` if there is none.
  template <class Verb>
  errc code(const Verb& x) {
    const auto result = store(x);
    const auto code = std::get_if<errc>(&result);
    return code != nullptr ? *code : errc::ok;
  }

  saved_snapshot save(const session_ref& of, const state& content,
                      std::uint64_t parent,
                      append_rule where = append_rule::at_head) {
    return get(save_snapshot{record(of, content, parent), content, where});
  }

  /// Saves one number after the other.
  void save_all(const session_ref& of, const std::vector<int>& numbers) {
    std::uint64_t parent = 0;
    for (const auto x : numbers)
      parent = save(of, number(x), parent).record.sequence;
  }

  snapshot_record read(const session_ref& of, std::uint64_t sequence) {
    return get(get_snapshot{snapshot_ref{of, sequence}, detail_level::record})
      .record;
  }

  stored_snapshot restore(const session_ref& of, std::uint64_t sequence) {
    return get(restore_snapshot{snapshot_ref{of, sequence}});
  }

  std::vector<std::uint64_t> sequences(const session_ref& of,
                                       bool with_orphans = false) {
    list_snapshots x{of};
    x.with_orphans = with_orphans;
    std::vector<std::uint64_t> result;
    for (const auto& y : get(x).snapshots)
      result.push_back(y.record.sequence);
    return result;
  }

  fixture store;

  // -- against the model ------------------------------------------------------

  /// One verb and what it is about, as numbers: so that what fails gets
  /// shorter.
  using command = std::array<int, 7>;

  /// Numbers from 0 to this mean a verb.
  static constexpr int verbs = 27;

  /// Says the same to a new store and to the model.
  /// @returns the first difference; empty if there is none.
  static std::string difference(const std::vector<command>& commands) {
    fixture real;
    comparison pair{real};
    for (const auto& x : commands)
      if (auto text = pair.run(x); !text.empty())
        return text;
    return pair.compare_all();
  }

private:
  class comparison {
  public:
    explicit comparison(fixture& real) : real_(real) {
      const auto log = talk(2).messages();
      states_ = {number(0),
                 number(1),
                 state::plain(payload::of(std::string{"two"})),
                 talk(0),
                 state::conversation(log.prefix(1), {}, {}),
                 state::conversation(log, {}, {}),
                 talk(2).with_custom(payload::of(7)),
                 version(1, number(1)),
                 version(2, number(1)),
                 version(2, talk(2).with_custom(payload::of(7))),
                 talk(2).with_artifact({"file", {ai::part::text("content")}})};
    }

    std::string run(const command& x) {
      const auto [verb, a, b, c, d, e, f] = x;
      const auto of = session(a);
      if (verb < 9)
        return save(of, b, c, d, e, f);
      switch (verb) {
        case 9:
        case 10: return compare(restore_snapshot{snapshot(of, b, c, d)});
        case 11: return compare(get_snapshot{snapshot(of, b, c, d), level(e)});
        case 12: {
          list_snapshots y{of};
          y.with_orphans = b % 2 == 0;
          y.wanted = level(c);
          y.after = d % 8;
          y.limit = e % 5;
          return compare(y);
        }
        case 13: return compare(get_session{of, level(b)});
        case 14: return compare(save_session{of, content(b), turn(c)});
        case 15:
          if constexpr (durable)
            real_.reopen();
          return {};
        default: break;
      }
      if constexpr (managed)
        switch (verb) {
          case 16: {
            list_sessions y;
            y.agent = c % 3 == 0 ? "" : of.agent;
            y.label = d % 3 == 0 ? label(d) : "";
            if (e % 2 == 0)
              y.after = of;
            y.limit = f % 4;
            return compare(y);
          }
          case 17:
          case 18: {
            label_snapshot y{snapshot(of, b, c, d)};
            y.add = {label(e), label(f)};
            y.remove = {label(e + f)};
            return compare(y);
          }
          case 19: return compare(delete_session{of});
          case 20:
          case 21:
            return compare(
              copy_session{of, session(b), static_cast<std::uint64_t>(c % 8)});
          case 22: {
            verify_sessions y;
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
            return compare(title_session{of, std::string(size, 'x')});
          }
          case 24:
            return compare(annotate_snapshot{snapshot(of, b, c, d),
                                             std::string(e % 4, 'x')});
          default: {
            prune_snapshots y;
            y.agent = b % 4 == 0 ? "" : of.agent;
            y.session = b % 2 == 0 ? session_id{} : of.id;
            y.created_before = c % 2 == 0 ? caf::timestamp::max() : time(d);
            y.keep_newest = e % 6;
            return compare(y);
          }
        }
      return {};
    }

    /// Reads all there is.
    std::string compare_all() {
      for (const auto& of : model_.sessions()) {
        list_snapshots x{of};
        x.with_orphans = true;
        x.wanted = detail_level::state;
        x.limit = max_page;
        if (auto text = compare(x); !text.empty())
          return text;
        if (auto text = compare(get_session{of}); !text.empty())
          return text;
      }
      if constexpr (managed)
        return compare(list_sessions{});
      else
        return {};
    }

  private:
    std::string save(const session_ref& of, int b, int c, int d, int e, int f) {
      const auto value = content(b);
      std::uint64_t parent = 0;
      if (c % 8 == 0) {
        parent = d % 10; // maybe there, maybe not
      } else if (c % 8 != 1) {
        const auto known = model_(get_session{of});
        if (known.index() == 0)
          parent = std::get<0>(known).info.head;
      }
      auto made = record(of, value, parent);
      made.turn_index = turn(d);
      made.event = static_cast<snapshot_event>(e % 3);
      made.created_at = time(d + e);
      if (e % 4 == 0)
        made.id = snapshot_id{"snapshot-" + std::to_string(d % 4)};
      auto where = d % 2 == 0 ? append_rule::at_head : append_rule::anywhere;
      if (f % 4 == 2)
        made.note = "note";
      if (f % 4 == 3) {
        where = append_rule::as_it_was;
        made.sequence = f;
        made.index = e;
      }
      return compare(save_snapshot{std::move(made), value, where});
    }

    static session_ref session(int x) {
      return at(std::to_string(x % 3), x % 2 == 0 ? "/agent/a" : "/agent/b");
    }

    snapshot_ref snapshot(const session_ref& of, int b, int c, int d) {
      const auto id = d % 4 == 0
                        ? snapshot_id{"snapshot-" + std::to_string(c % 4)}
                        : id_of(content(c));
      switch (b % 4) {
        case 0: return {of, static_cast<std::uint64_t>(c % 10)};
        case 1: return {of.agent, {}, id};
        case 2: {
          snapshot_ref result{of.agent, of.id, id};
          result.sequence = d % 10;
          return result;
        }
        default: return {of.agent, of.id, id};
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

    /// Asks both.
    template <class Verb>
    std::string compare(const Verb& x) {
      const auto actual = text_of(real_(x));
      const auto expected = text_of(model_(x));
      if (actual == expected)
        return {};
      return caf::deep_to_string(x) + "\n  is answered with " + actual
             + "\n  instead of " + expected;
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

    /// The model has no clock.
    static void forget_times(session_info& x) {
      x.created_at = {};
      x.updated_at = {};
    }

    fixture& real_;
    detail::store_model model_;
    std::vector<state> states_;
  };
};

TYPED_TEST_SUITE_P(store_contract);

// -- saving -------------------------------------------------------------------

TYPED_TEST_P(store_contract, the_first_record_is_a_root) {
  const auto of = this->at("s");
  auto made = this->record(of, this->talk(1), 0);
  made.turn_index = 3;
  made.event = snapshot_event::tool_iteration_end;
  made.created_at = caf::timestamp{std::chrono::seconds{1'700'000'000}};
  const auto saved
    = this->get(save_snapshot{made, this->talk(1), append_rule::at_head});
  EXPECT_TRUE(saved.created);
  made.sequence = 1;
  EXPECT_EQ(saved.record, made);
  EXPECT_EQ(this->read(of, 1), made);
}

TYPED_TEST_P(store_contract, a_record_follows_its_parent) {
  const auto of = this->at("s");
  this->save_all(of, {1, 2, 3});
  const auto last = this->read(of, 3);
  EXPECT_EQ(last.parent, 2u);
  EXPECT_EQ(last.parent_id, this->id_of(this->number(2)));
  EXPECT_EQ(last.index, 2u);
}

TYPED_TEST_P(store_contract, a_state_that_comes_back_is_recorded_again) {
  const auto of = this->at("s");
  this->save_all(of, {1, 2, 1});
  EXPECT_EQ(this->sequences(of), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(this->read(of, 1).id, this->read(of, 3).id);
  const auto found
    = this->get(get_snapshot{{of.agent, of.id, this->id_of(this->number(1))}});
  EXPECT_EQ(found.record.sequence, 3u);
}

TYPED_TEST_P(store_contract, an_id_means_the_last_active_record_that_has_it) {
  const auto of = this->at("s");
  this->save_all(of, {1, 2, 1});
  this->restore(of, 2);
  const snapshot_ref which{of.agent, of.id, this->id_of(this->number(1))};
  EXPECT_EQ(this->get(get_snapshot{which}).record.sequence, 1u);
}

TYPED_TEST_P(store_contract, an_id_without_active_records_means_its_last_one) {
  const auto of = this->at("s");
  this->save_all(of, {1, 2, 3, 2});
  this->restore(of, 1);
  const snapshot_ref which{of.agent, of.id, this->id_of(this->number(2))};
  EXPECT_EQ(this->get(get_snapshot{which}).record.sequence, 4u);
}

TYPED_TEST_P(store_contract, saving_what_the_parent_has_changes_nothing) {
  const auto of = this->at("s");
  this->save_all(of, {1, 2});
  const auto before = this->get(get_session{of});
  const auto again = this->save(of, this->number(2), 2);
  EXPECT_FALSE(again.created);
  EXPECT_EQ(again.record, this->read(of, 2));
  const auto branch = this->save(of, this->number(1), 1, append_rule::anywhere);
  EXPECT_FALSE(branch.created);
  EXPECT_EQ(branch.record, this->read(of, 1));
  const auto after = this->get(get_session{of});
  EXPECT_EQ(before.info, after.info);
  EXPECT_EQ(before.content, after.content);
}

TYPED_TEST_P(store_contract,
             the_same_text_of_another_version_is_another_state) {
  const auto of = this->at("s");
  const auto versions = {this->number(1), this->version(1, this->number(1)),
                         this->version(2, this->number(1))};
  std::uint64_t sequence = 0;
  for (const auto& x : versions) {
    const auto saved = this->save(of, x, sequence);
    EXPECT_TRUE(saved.created);
    EXPECT_EQ(saved.record.type, x.type());
    EXPECT_EQ(saved.record.state, this->number(1).id());
    sequence = saved.record.sequence;
    EXPECT_FALSE(this->save(of, x, sequence).created);
  }
  sequence = 0;
  for (const auto& x : versions) {
    ++sequence;
    EXPECT_EQ(this->read(of, sequence).type, x.type());
    EXPECT_EQ(this->get(get_snapshot{snapshot_ref{of, sequence}}).content, x);
    EXPECT_EQ(this->restore(of, sequence).content, x);
    EXPECT_EQ(this->get(get_session{of}).content, x);
  }
  // their id means the last active one, as ever
  this->restore(of, 2);
  EXPECT_EQ(
    this->get(get_snapshot{{of.agent, of.id, this->id_of(this->number(1))}})
      .record.sequence,
    2u);
}

TYPED_TEST_P(store_contract, what_a_session_works_on_has_a_version) {
  const auto of = this->at("s");
  this->save(of, this->version(1, this->number(1)), 0);
  const auto now = this->version(2, this->number(1));
  this->get(save_session{of, now, 1});
  const auto found = this->get(get_session{of});
  EXPECT_EQ(found.content, now);
  EXPECT_EQ(found.head.content, this->version(1, this->number(1)));
  EXPECT_EQ(found.head.record.type, found.head.content.type());
}

TYPED_TEST_P(store_contract, versions_of_a_conversation_go_on_from_each_other) {
  const auto of = this->at("s");
  const auto old = this->version(1, this->talk(3));
  const auto now = this->version(2, this->talk(3));
  this->save(of, old, 0);
  this->save(of, now, 1);
  const auto next
    = now.with_messages(now.messages().with(ai::user_text("more")));
  this->save(of, next, 2);
  for (std::uint64_t i = 1; i <= 3; ++i)
    EXPECT_EQ(this->get(get_snapshot{snapshot_ref{of, i}}).content,
              i == 1 ? old : (i == 2 ? now : next));
}

TYPED_TEST_P(store_contract, who_saves_behind_a_head_that_has_moved_is_told) {
  const auto of = this->at("race");
  this->save_all(of, {1});
  auto late = save_snapshot{this->record(of, this->number(2), 1),
                            this->number(2), append_rule::at_head};
  EXPECT_EQ(this->code(late), errc::ok);
  EXPECT_EQ(this->code(late), errc::aborted);
  EXPECT_NE(this->store.error().message().find("race"), std::string::npos);
  late.record.parent = 0;
  EXPECT_EQ(this->code(late), errc::aborted);
  EXPECT_EQ(this->sequences(of, true), (std::vector<std::uint64_t>{1, 2}));
}

TYPED_TEST_P(store_contract, a_branch_orphans_what_it_leaves) {
  const auto of = this->at("s");
  this->save_all(of, {1, 2, 3});
  const auto saved = this->save(of, this->number(4), 1, append_rule::anywhere);
  EXPECT_EQ(saved.record.sequence, 4u);
  EXPECT_EQ(saved.record.index, 1u);
  EXPECT_EQ(this->sequences(of), (std::vector<std::uint64_t>{1, 4}));
  EXPECT_TRUE(this->read(of, 3).orphaned);
}

TYPED_TEST_P(store_contract, a_record_can_be_saved_as_it_was) {
  const auto of = this->at("s");
  const auto save
    = [&](int value, std::uint64_t sequence, std::uint64_t parent) {
        auto made = this->record(of, this->number(value), parent);
        made.sequence = sequence;
        made.index = 10 * sequence;
        return save_snapshot{made, this->number(value), append_rule::as_it_was};
      };
  EXPECT_EQ(this->code(save(1, 0, 0)), errc::invalid_argument);
  EXPECT_TRUE(this->get(save(1, 3, 0)).created);
  const auto same = this->get(save(1, 5, 3)); // what was between them is gone
  EXPECT_TRUE(same.created);
  EXPECT_EQ(same.record.sequence, 5u);
  EXPECT_EQ(same.record.index, 50u);
  EXPECT_EQ(same.record.parent, 3u);
  EXPECT_EQ(same.record.parent_id, this->id_of(this->number(1)));
  this->get(save(2, 6, 5));
  this->get(save(3, 9, 3));
  EXPECT_EQ(this->code(save(4, 9, 3)), errc::aborted);
  EXPECT_EQ(this->code(save(4, 2, 0)), errc::aborted);
  EXPECT_EQ(this->code(save(4, 10, 4)), errc::not_found);
  EXPECT_EQ(this->sequences(of), (std::vector<std::uint64_t>{3, 9}));
  EXPECT_EQ(this->sequences(of, true),
            (std::vector<std::uint64_t>{3, 5, 6, 9}));
  this->restore(of, 6);
  EXPECT_EQ(this->sequences(of), (std::vector<std::uint64_t>{3, 5, 6}));
  const auto next = this->save(of, this->number(5), 6).record;
  EXPECT_EQ(next.sequence, 10u);
  EXPECT_EQ(next.index, 61u);
}

TYPED_TEST_P(store_contract, a_parent_that_is_not_there_is_not_found) {
  const auto of = this->at("s");
  const auto content = this->number(1);
  for (const auto rule : {append_rule::anywhere, append_rule::at_head}) {
    EXPECT_EQ(
      this->code(save_snapshot{this->record(of, content, 1), content, rule}),
      errc::not_found);
  }
  EXPECT_EQ(this->code(get_session{of}), errc::not_found);
}

TYPED_TEST_P(store_contract, a_state_with_another_id_is_refused) {
  const auto of = this->at("s");
  EXPECT_EQ(this->code(save_snapshot{this->record(of, this->number(1), 0),
                                     this->number(2), append_rule::anywhere}),
            errc::invalid_argument);
  EXPECT_EQ(this->code(get_session{of}), errc::not_found);
}

TYPED_TEST_P(store_contract, what_has_no_json_is_refused) {
  const auto of = this->at("s");
  const auto wrong
    = state::plain(payload::of(std::numeric_limits<double>::quiet_NaN()));
  auto made = this->record(of, this->number(1), 0);
  EXPECT_EQ(this->code(save_snapshot{made, wrong, append_rule::anywhere}),
            errc::invalid_argument);
  EXPECT_EQ(this->code(save_session{of, wrong, 0}), errc::invalid_argument);
  EXPECT_EQ(this->code(get_session{of}), errc::not_found);
}

TYPED_TEST_P(store_contract, empty_names_are_refused) {
  const auto content = this->number(1);
  const auto made = this->record(this->at("s"), content, 0);
  auto refused = [&](auto change) {
    auto wrong = made;
    change(wrong);
    return this->code(save_snapshot{wrong, content, append_rule::anywhere})
           == errc::invalid_argument;
  };
  EXPECT_TRUE(refused([](snapshot_record& x) { x.agent.clear(); }));
  EXPECT_TRUE(refused([](snapshot_record& x) { x.session = {}; }));
  EXPECT_TRUE(refused([](snapshot_record& x) { x.id = {}; }));
  const auto nobody = this->at("s", "");
  const auto nameless = this->at("");
  for (const auto& x : {nobody, nameless}) {
    EXPECT_EQ(this->code(save_session{x, content, 0}), errc::invalid_argument);
    EXPECT_EQ(this->code(get_session{x}), errc::invalid_argument);
    EXPECT_EQ(this->code(list_snapshots{x}), errc::invalid_argument);
  }
  EXPECT_EQ(this->code(get_snapshot{{"", {}, made.id}}),
            errc::invalid_argument);
  EXPECT_EQ(this->code(get_snapshot{{"/agent/a", {}, {}}}),
            errc::invalid_argument);
  EXPECT_EQ(this->code(get_snapshot{snapshot_ref{nameless, 1}}),
            errc::invalid_argument);
}

// -- states -------------------------------------------------------------------

TYPED_TEST_P(store_contract, what_was_saved_is_returned) {
  const auto of = this->at("s");
  ai::message_log log{{ai::system_text("be \"brief\""), ai::user_text("ö\n")}};
  const auto artifacts = std::make_shared<const std::vector<ai::artifact>>(
    std::vector<ai::artifact>{{"file", {ai::part::text("content")}}});
  const std::vector<state> all{
    state::plain({}),
    state::plain(payload::of(std::map<std::string, double>{{"x", 0.1}})),
    state::conversation({}, {}, {}),
    state::conversation(log, {}, {}),
    state::conversation(log, payload::of(std::string{"custom"}), {}),
    state::conversation(log, payload::of(1), artifacts)};
  std::uint64_t parent = 0;
  for (const auto& x : all)
    parent = this->save(of, x, parent).record.sequence;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto found = this->get(get_snapshot{snapshot_ref{of, i + 1}});
    EXPECT_EQ(found.content.form(), all[i].form());
    EXPECT_EQ(found.content.text(), all[i].text());
    EXPECT_EQ(found.content.id(), found.record.state);
  }
}

TYPED_TEST_P(store_contract, logs_that_grow_from_a_state_leave_it_alone) {
  const auto of = this->at("s");
  const auto first = this->talk(2);
  const auto text = first.text();
  this->save(of, first, 0);
  for (const auto* next : {"one way", "the other"})
    this->save(of,
               first.with_messages(first.messages().with(ai::user_text(next))),
               1, append_rule::anywhere);
  EXPECT_EQ(this->get(get_snapshot{snapshot_ref{of, 1}}).content.text(), text);
  EXPECT_NE(this->get(get_snapshot{snapshot_ref{of, 2}}).content.text(),
            this->get(get_snapshot{snapshot_ref{of, 3}}).content.text());
}

TYPED_TEST_P(store_contract, a_record_alone_comes_without_its_state) {
  const auto of = this->at("s");
  this->save_all(of, {1});
  const auto found
    = this->get(get_snapshot{snapshot_ref{of, 1}, detail_level::record});
  EXPECT_FALSE(found.content.custom());
}

TYPED_TEST_P(store_contract, a_corrupt_state_is_data_loss) {
  if constexpr (corrupts_states<TypeParam>) {
    const auto of = this->at("s");
    this->save_all(of, {1, 2});
    const auto before = this->get(get_session{of}).info;
    this->store.factory().corrupt(this->number(1).id());
    const snapshot_ref which{of, 1};
    EXPECT_EQ(this->code(get_snapshot{which}), errc::data_loss);
    EXPECT_NE(this->store.error().message().find("corrupt"), std::string::npos);
    EXPECT_EQ(this->code(restore_snapshot{which}), errc::data_loss);
    EXPECT_EQ(this->get(get_session{of}).info, before);
    EXPECT_EQ(this->code(get_snapshot{which, detail_level::record}), errc::ok);
    EXPECT_EQ(this->code(get_snapshot{snapshot_ref{of, 2}}), errc::ok);
  } else {
    GTEST_SKIP() << "the factory does not corrupt states";
  }
}

TYPED_TEST_P(store_contract, a_missing_state_is_another_data_loss) {
  if constexpr (loses_states<TypeParam>) {
    const auto of = this->at("s");
    this->save_all(of, {1, 2});
    this->store.factory().lose(this->number(1).id());
    EXPECT_EQ(this->code(get_snapshot{snapshot_ref{of, 1}}), errc::data_loss);
    EXPECT_NE(this->store.error().message().find("missing"), std::string::npos);
    EXPECT_EQ(this->code(get_snapshot{snapshot_ref{of, 2}}), errc::ok);
  } else {
    GTEST_SKIP() << "the factory does not lose states";
  }
}

// -- finding ------------------------------------------------------------------

TYPED_TEST_P(store_contract, an_id_in_one_session_needs_no_session) {
  this->save_all(this->at("s"), {1, 2});
  this->save_all(this->at("t"), {3});
  const auto found
    = this->get(get_snapshot{{"/agent/a", {}, this->id_of(this->number(2))}});
  EXPECT_EQ(found.record.session, session_id{"s"});
  EXPECT_EQ(found.record.sequence, 2u);
}

TYPED_TEST_P(store_contract, an_id_in_several_sessions_needs_the_session) {
  for (const auto* name : {"one", "two"})
    this->save_all(this->at(name), {1});
  this->save_all(this->at("three", "/agent/b"), {1});
  const auto id = this->id_of(this->number(1));
  EXPECT_EQ(this->code(get_snapshot{{"/agent/a", {}, id}}),
            errc::failed_precondition);
  const auto message = this->store.error().message();
  EXPECT_NE(message.find("one"), std::string::npos);
  EXPECT_NE(message.find("two"), std::string::npos);
  EXPECT_EQ(message.find("three"), std::string::npos);
  EXPECT_TRUE(json::accept(this->store.error().details()));
  EXPECT_EQ(this->code(restore_snapshot{{"/agent/a", {}, id}}),
            errc::failed_precondition);
  EXPECT_EQ(this->code(get_snapshot{{"/agent/a", session_id{"one"}, id}}),
            errc::ok);
  EXPECT_EQ(this->code(get_snapshot{{"/agent/b", {}, id}}), errc::ok);
}

TYPED_TEST_P(store_contract, what_is_not_there_is_not_found) {
  this->save_all(this->at("s"), {1});
  const auto id = this->id_of(this->number(1));
  const auto other = this->id_of(this->number(2));
  EXPECT_EQ(this->code(get_snapshot{{"/agent/a", {}, other}}), errc::not_found);
  EXPECT_EQ(this->code(get_snapshot{{"/agent/b", {}, id}}), errc::not_found);
  EXPECT_EQ(this->code(get_snapshot{{"/agent/a", session_id{"t"}, id}}),
            errc::not_found);
  EXPECT_EQ(this->code(get_snapshot{snapshot_ref{this->at("s"), 2}}),
            errc::not_found);
  snapshot_ref both{"/agent/a", session_id{"s"}, other};
  both.sequence = 1;
  EXPECT_EQ(this->code(get_snapshot{both}), errc::not_found);
  EXPECT_EQ(this->code(restore_snapshot{both}), errc::not_found);
  EXPECT_EQ(this->code(get_session{this->at("t")}), errc::not_found);
}

TYPED_TEST_P(store_contract, an_unknown_session_has_no_snapshots) {
  const auto page = this->get(list_snapshots{this->at("s")});
  EXPECT_TRUE(page.snapshots.empty());
  EXPECT_FALSE(page.more);
}

TYPED_TEST_P(store_contract, pages_show_everything_once) {
  const auto of = this->at("s");
  this->save_all(of, {1, 2, 3, 4, 5, 6, 7});
  this->restore(of, 3);
  this->save(of, this->number(8), 3);
  for (const auto with_orphans : {false, true})
    for (const std::uint32_t limit : {0, 1, 2, 3, 100}) {
      list_snapshots x{of};
      x.with_orphans = with_orphans;
      x.limit = limit;
      std::vector<std::uint64_t> seen;
      for (auto more = true; more && seen.size() < 100;) {
        const auto page = this->get(x);
        ASSERT_FALSE(page.snapshots.empty());
        ASSERT_LE(page.snapshots.size(), std::max(limit, 1u));
        for (const auto& y : page.snapshots)
          seen.push_back(y.record.sequence);
        x.after = seen.back();
        more = page.more;
      }
      EXPECT_EQ(seen, this->sequences(of, with_orphans));
      EXPECT_EQ(seen.size(), with_orphans ? 8u : 4u);
    }
}

// -- heads --------------------------------------------------------------------

TYPED_TEST_P(store_contract, a_restore_moves_the_head_and_what_follows_it) {
  const auto of = this->at("s");
  std::uint64_t parent = 0;
  for (int i = 0; i < 3; ++i) {
    auto made = this->record(of, this->number(i), parent);
    made.turn_index = i;
    parent
      = this->get(save_snapshot{made, this->number(i), append_rule::at_head})
          .record.sequence;
  }
  const auto restored = this->restore(of, 2);
  EXPECT_EQ(restored.record.sequence, 2u);
  EXPECT_FALSE(restored.record.orphaned);
  EXPECT_EQ(restored.content, this->number(1));
  const auto session = this->get(get_session{of});
  EXPECT_EQ(session.info.head, 2u);
  EXPECT_EQ(session.info.next_turn, 2u);
  EXPECT_EQ(session.info.records, 3u);
  EXPECT_EQ(session.content, this->number(1));
  ASSERT_TRUE(session.head);
  EXPECT_EQ(session.head.record, this->read(of, 2));
  EXPECT_EQ(this->sequences(of), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(this->sequences(of, true), (std::vector<std::uint64_t>{1, 2, 3}));
}

TYPED_TEST_P(store_contract, an_orphan_is_recovered_by_restoring_it) {
  const auto of = this->at("s");
  this->save_all(of, {1, 2, 3});
  this->restore(of, 1);
  this->save(of, this->number(4), 1);
  EXPECT_TRUE(this->read(of, 3).orphaned);
  this->restore(of, 3);
  EXPECT_EQ(this->sequences(of), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_TRUE(this->read(of, 4).orphaned);
  const auto next = this->save(of, this->number(5), 3);
  EXPECT_EQ(next.record.sequence, 5u);
  EXPECT_EQ(next.record.index, 3u);
}

TYPED_TEST_P(store_contract, two_restores_in_a_row_end_at_the_second) {
  const auto of = this->at("s");
  this->save_all(of, {1, 2, 3});
  this->restore(of, 1);
  this->restore(of, 2);
  EXPECT_EQ(this->get(get_session{of}).info.head, 2u);
  EXPECT_EQ(this->sequences(of), (std::vector<std::uint64_t>{1, 2}));
  this->restore(of, 2);
  EXPECT_EQ(this->get(get_session{of}).info.head, 2u);
}

// -- sessions -----------------------------------------------------------------

TYPED_TEST_P(store_contract, a_session_lives_without_snapshots) {
  const auto of = this->at("s");
  const auto info = this->get(save_session{of, this->number(1), 4});
  EXPECT_EQ(info.agent, of.agent);
  EXPECT_EQ(info.id, of.id);
  EXPECT_EQ(info.head, 0u);
  EXPECT_EQ(info.next_turn, 4u);
  const auto session = this->get(get_session{of});
  EXPECT_EQ(session.info, info);
  EXPECT_FALSE(session.head);
  EXPECT_EQ(session.content, this->number(1));
  EXPECT_TRUE(this->save(of, this->number(1), 0).created);
}

TYPED_TEST_P(store_contract, what_a_session_works_on_is_not_its_head) {
  const auto of = this->at("s");
  this->save_all(of, {1, 2});
  this->get(save_session{of, this->number(3), 7});
  const auto session = this->get(get_session{of});
  EXPECT_EQ(session.content, this->number(3));
  EXPECT_EQ(session.info.next_turn, 7u);
  ASSERT_TRUE(session.head);
  EXPECT_EQ(session.head.record.sequence, 2u);
  EXPECT_EQ(session.head.content, this->number(2));
  this->save(of, this->number(4), 2);
  EXPECT_EQ(this->get(get_session{of}).content, this->number(4));
}

TYPED_TEST_P(store_contract, a_session_knows_when_it_changed) {
  const auto of = this->at("s");
  const auto before = caf::make_timestamp();
  const auto made = this->get(save_session{of, this->number(1), 0});
  EXPECT_GE(made.created_at, before);
  EXPECT_GE(made.updated_at, made.created_at);
  this->save(of, this->number(2), 0);
  const auto saved = this->get(get_session{of}).info;
  EXPECT_EQ(saved.created_at, made.created_at);
  EXPECT_GE(saved.updated_at, made.updated_at);
  EXPECT_LE(saved.updated_at, caf::make_timestamp());
}

// -- managed stores -----------------------------------------------------------

/// Leaves a test that the store need not pass.
#define TERTULIA_NEEDS_MANAGED_STORE()                                         \
  if constexpr (!TestFixture::managed)                                         \
    GTEST_SKIP() << "the store is not a managed one";                          \
  else

TYPED_TEST_P(store_contract, sessions_are_listed_in_pages) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    std::vector<session_ref> all;
    for (const auto* agent : {"/agent/a", "/agent/b"})
      for (const auto* id : {"1", "10", "2"}) {
        all.push_back(this->at(id, agent));
        this->save_all(all.back(), {1});
      }
    for (const std::uint32_t limit : {1, 2, 4, 100})
      for (const auto* agent : {"", "/agent/a", "/agent/b"}) {
        list_sessions x;
        x.agent = agent;
        x.limit = limit;
        std::vector<session_ref> seen;
        for (auto more = true; more && seen.size() < 100;) {
          const auto page = this->get(x);
          ASSERT_FALSE(page.sessions.empty());
          for (const auto& y : page.sessions)
            seen.emplace_back(y.agent, y.id);
          x.after = seen.back();
          more = page.more;
        }
        auto expected = all;
        std::erase_if(expected, [&](const session_ref& y) {
          return !x.agent.empty() && y.agent != x.agent;
        });
        EXPECT_EQ(seen, expected);
      }
  }
}

TYPED_TEST_P(store_contract, sessions_are_found_by_time_and_label) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2");
    this->save_all(first, {1});
    this->save_all(second, {1});
    label_snapshot mark{snapshot_ref{second, 1}};
    mark.add = {"good"};
    this->get(mark);
    list_sessions x;
    x.label = "good";
    auto page = this->get(x);
    ASSERT_EQ(page.sessions.size(), 1u);
    EXPECT_EQ(page.sessions.front().id, second.id);
    x.label = "bad";
    EXPECT_TRUE(this->get(x).sessions.empty());

    x.label.clear();
    x.updated_since = page.sessions.front().updated_at;
    for (const auto& y : this->get(x).sessions)
      EXPECT_GE(y.updated_at, x.updated_since);
    x.updated_since += std::chrono::hours{1};
    EXPECT_TRUE(this->get(x).sessions.empty());
  }
}

TYPED_TEST_P(store_contract, sessions_are_listed_with_what_they_are_about) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto of = this->at("s");
    const auto listed = [&] {
      const auto page = this->get(list_sessions{});
      EXPECT_EQ(page.sessions.size(), 1u);
      const auto info = this->get(get_session{of}).info;
      EXPECT_EQ(page.sessions.back(), info);
      return info;
    };
    auto log = this->talk(3).messages();
    const auto save = [&] {
      this->get(save_session{of, state::conversation(log, {}, {}), 0});
      const auto info = listed();
      EXPECT_EQ(info.messages, log.size());
      EXPECT_EQ(info.bytes, to_json_text(log).size());
      return info.preview;
    };
    EXPECT_EQ(save(), "message 2");
    log = log.with(ai::model_text("answer"));
    EXPECT_EQ(save(), "message 2");
    log = log.with(ai::message{ai::role::user,
                               {ai::part::media("picture"), ai::part::text(""),
                                ai::part::text("see"), ai::part::text("it")}});
    EXPECT_EQ(save(), "see");
    log = log.with(ai::message{ai::role::user, {ai::part::media("another")}});
    for (std::size_t i = 2; i < preview_depth; ++i)
      log = log.with(ai::model_text("thinking"));
    EXPECT_EQ(save(), "see");
    log = log.with(ai::model_text("at length"));
    EXPECT_EQ(save(), "");
    std::string text;
    for (std::size_t i = 0; i < max_preview; ++i)
      text
        += i % 2 == 0 ? "\xc3\xb6" : "\xf0\x9f\x8d\xb5"; // ö and a cup of tea
    log = log.with(ai::user_text(text + "\xc3\xb6"));
    EXPECT_EQ(save(), text);
    this->save(of, this->talk(2), 0);
    EXPECT_EQ(listed().preview, "message 1");
    this->save(of, this->number(1), 1);
    EXPECT_EQ(listed().preview, "");
    EXPECT_EQ(listed().messages, 0u);
    EXPECT_EQ(listed().bytes, 0u);
    this->restore(of, 1);
    EXPECT_EQ(listed().preview, "message 1");
    EXPECT_EQ(listed().messages, 2u);
    EXPECT_EQ(this->get(copy_session{of, this->at("t"), 2}).messages, 0u);
    EXPECT_EQ(this->get(copy_session{of, this->at("u"), 1}).preview,
              "message 1");
  }
}

TYPED_TEST_P(store_contract, sessions_have_titles) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto of = this->at("s");
    this->save_all(of, {1, 2});
    const auto before = this->get(get_session{of}).info;
    auto expected = before;
    expected.title = "Tea";
    EXPECT_EQ(this->get(title_session{of, "Tea"}), expected);
    EXPECT_EQ(this->get(list_sessions{}).sessions.at(0), expected);
    this->save(of, this->number(3), 2);
    EXPECT_EQ(this->get(get_session{of}).info.title, "Tea");
    EXPECT_EQ(this->get(copy_session{of, this->at("t")}).title, "Tea");
    EXPECT_EQ(this->get(copy_session{of, this->at("u"), 1}).title, "Tea");
    EXPECT_EQ(this->get(title_session{of, {}}).title, "");
    EXPECT_EQ(this->code(title_session{this->at("v"), "x"}), errc::not_found);
    EXPECT_EQ(this->code(title_session{of, "\xff"}), errc::invalid_argument);
    EXPECT_EQ(
      this->code(title_session{of, std::string(max_title_size + 1, 'x')}),
      errc::invalid_argument);
    EXPECT_EQ(this->code(title_session{of, std::string(max_title_size, 'x')}),
              errc::ok);
  }
}

TYPED_TEST_P(store_contract, labels_are_ordered_and_distinct) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto of = this->at("s");
    this->save_all(of, {1});
    label_snapshot x{snapshot_ref{of, 1}};
    x.add = {"b", "a", "b", "c"};
    x.remove = {"nothing"};
    const std::vector<std::string> abc{"a", "b", "c"};
    EXPECT_EQ(this->get(x).labels, abc);
    EXPECT_EQ(this->read(of, 1).labels, abc);
    x.add = {"a", "d"};
    x.remove = {"b", "a"};
    EXPECT_EQ(this->get(x).labels, (std::vector<std::string>{"a", "c", "d"}));
    x.which.sequence = 2;
    EXPECT_EQ(this->code(x), errc::not_found);
  }
}

TYPED_TEST_P(store_contract, labels_have_limits) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto of = this->at("s");
    this->save_all(of, {1});
    label_snapshot x{snapshot_ref{of, 1}};
    x.add = {"fine", ""};
    EXPECT_EQ(this->code(x), errc::invalid_argument);
    x.add = {std::string(max_label_size + 1, 'x')};
    EXPECT_EQ(this->code(x), errc::invalid_argument);
    EXPECT_TRUE(this->read(of, 1).labels.empty());
    x.add = {std::string(max_label_size, 'x')};
    while (x.add.size() < max_labels)
      x.add.push_back(std::to_string(x.add.size()));
    EXPECT_EQ(this->get(x).labels.size(), max_labels);
    x.add = {"one more"};
    EXPECT_EQ(this->code(x), errc::resource_exhausted);
    x.remove = {"1"};
    EXPECT_EQ(this->get(x).labels.size(), max_labels);
  }
}

TYPED_TEST_P(store_contract, a_snapshot_has_a_note) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto of = this->at("s");
    this->save_all(of, {1, 2});
    auto made = this->record(of, this->number(3), 2);
    made.note = "from the start";
    this->get(save_snapshot{made, this->number(3), append_rule::at_head});
    EXPECT_EQ(this->read(of, 3).note, "from the start");
    const auto before = this->get(get_session{of}).info;
    const auto note = std::string(max_note_size - 2, 'x') + "\xc3\xb6";
    auto expected = this->read(of, 1);
    expected.note = note;
    const snapshot_ref first{of, 1};
    EXPECT_EQ(this->get(annotate_snapshot{first, note}), expected);
    EXPECT_EQ(this->read(of, 1), expected);
    EXPECT_EQ(this->get(get_session{of}).info, before);
    EXPECT_EQ(this->code(annotate_snapshot{first, note + "x"}),
              errc::invalid_argument);
    EXPECT_EQ(this->code(annotate_snapshot{first, "\xff"}),
              errc::invalid_argument);
    EXPECT_EQ(this->code(annotate_snapshot{snapshot_ref{of, 4}, "x"}),
              errc::not_found);
    EXPECT_EQ(this->read(of, 1).note, note);
    const auto copy = this->at("t");
    this->get(copy_session{of, copy, 2});
    EXPECT_EQ(this->get(annotate_snapshot{first, ""}).note, "");
    EXPECT_EQ(this->read(of, 1).note, "");
    EXPECT_EQ(this->read(copy, 1).note, note);
    EXPECT_EQ(this->get(prune_snapshots{}).records, 3u);
    EXPECT_EQ(this->read(of, 3).note, "from the start");
  }
}

TYPED_TEST_P(store_contract, vacuuming_changes_nothing_that_is_kept) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto of = this->at("s");
    const auto other = this->at("t");
    this->save_all(of, {1, 2, 3});
    this->save_all(other, {1, 4, 5});
    this->get(delete_session{other});
    const auto before = this->get(get_session{of});
    const auto sizes = this->get(vacuum_store{});
    EXPECT_LE(sizes.bytes_after, sizes.bytes_before);
    EXPECT_EQ(this->get(get_session{of}), before);
    EXPECT_EQ(this->code(get_session{other}), errc::not_found);
    for (const auto i : {1, 2, 3})
      EXPECT_EQ(
        this->get(get_snapshot{snapshot_ref{of, static_cast<std::uint64_t>(i)}})
          .content,
        this->number(i));
  }
}

TYPED_TEST_P(store_contract, deleting_a_session_leaves_the_others_alone) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2", "/agent/b");
    this->save_all(first, {1, 2, 1});
    this->save_all(second, {1});
    EXPECT_EQ(this->get(delete_session{first}), (erased{3, 1}));
    EXPECT_EQ(this->code(get_session{first}), errc::not_found);
    EXPECT_EQ(this->code(delete_session{first}), errc::not_found);
    EXPECT_TRUE(this->sequences(first, true).empty());
    const auto id = this->id_of(this->number(1));
    EXPECT_EQ(this->code(get_snapshot{{first.agent, {}, id}}), errc::not_found);
    EXPECT_EQ(this->get(get_snapshot{snapshot_ref{second, 1}}).content,
              this->number(1));
    EXPECT_EQ(this->save(first, this->number(3), 0).record.sequence, 1u);
  }
}

TYPED_TEST_P(store_contract, pruning_keeps_heads_and_labels) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto of = this->at("s");
    this->save_all(of, {1, 2, 3, 4, 5, 6});
    this->restore(of, 4); // 5 and 6 are orphans
    label_snapshot mark{snapshot_ref{of, 2}};
    mark.add = {"keep"};
    this->get(mark);
    mark.which.sequence = 6;
    this->get(mark);
    EXPECT_EQ(this->get(prune_snapshots{}), (erased{3, 3}));
    EXPECT_EQ(this->sequences(of), (std::vector<std::uint64_t>{2, 4}));
    EXPECT_EQ(this->sequences(of, true), (std::vector<std::uint64_t>{2, 4, 6}));
    const auto root = this->read(of, 2);
    EXPECT_EQ(root.parent, 0u);
    EXPECT_EQ(root.parent_id, snapshot_id{});
    EXPECT_EQ(root.index, 1u);
    const auto head = this->read(of, 4);
    EXPECT_EQ(head.parent, 2u);
    EXPECT_EQ(head.parent_id, root.id);
    EXPECT_EQ(head.index, 3u);
    const auto orphan = this->read(of, 6);
    EXPECT_TRUE(orphan.orphaned);
    EXPECT_EQ(orphan.parent, 4u);
    EXPECT_EQ(this->get(get_session{of}).info.records, 3u);
    EXPECT_EQ(this->restore(of, 6).content, this->number(6));
    EXPECT_EQ(this->save(of, this->number(7), 6).record.sequence, 7u);
  }
}

TYPED_TEST_P(store_contract, versions_of_a_state_go_one_by_one) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2");
    this->save(first, this->version(1, this->talk(2)), 0);
    this->save(first, this->version(2, this->talk(2)), 1);
    this->save(second, this->version(2, this->talk(2)), 0);
    EXPECT_EQ(this->get(delete_session{first}), (erased{2, 1}));
    EXPECT_EQ(this->get(get_session{second}).content,
              this->version(2, this->talk(2)));
    EXPECT_TRUE(this->get(verify_sessions{}).damages.empty());
    EXPECT_EQ(this->get(delete_session{second}), (erased{1, 1}));
  }
}

TYPED_TEST_P(store_contract, pruning_minds_age_number_and_session) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2");
    auto time = [](int x) { return caf::timestamp{std::chrono::seconds{x}}; };
    for (const auto& of : {first, second})
      for (int i = 0; i < 6; ++i) {
        auto made = this->record(of, this->number(i), i);
        made.created_at = time(i);
        this->get(save_snapshot{made, this->number(i), append_rule::at_head});
      }
    prune_snapshots x;
    x.agent = first.agent;
    x.session = first.id;
    x.created_before = time(2); // 1 and 2 are older
    EXPECT_EQ(this->get(x), (erased{2, 0}));
    x.created_before = caf::timestamp::max();
    x.keep_newest = 3; // 4, 5, 6
    EXPECT_EQ(this->get(x), (erased{1, 0}));
    EXPECT_EQ(this->sequences(first), (std::vector<std::uint64_t>{4, 5, 6}));
    EXPECT_EQ(this->sequences(second).size(), 6u);
    x.session = {};
    EXPECT_EQ(this->get(x), (erased{3, 3}));
    x.agent = "/agent/b";
    x.keep_newest = 0;
    EXPECT_EQ(this->get(x), erased{});
    x.agent.clear();
    x.session = first.id;
    EXPECT_EQ(this->code(x), errc::invalid_argument);
  }
}

TYPED_TEST_P(store_contract, a_copy_is_what_its_origin_was) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2");
    this->save_all(first, {1, 2, 3});
    this->restore(first, 2);
    label_snapshot mark{snapshot_ref{first, 3}};
    mark.add = {"good"};
    this->get(mark);
    this->get(save_session{first, this->talk(3), 7});
    const auto before = this->get(get_session{first});
    const auto info = this->get(copy_session{first, second});
    EXPECT_EQ(info.agent, second.agent);
    EXPECT_EQ(info.id, second.id);
    EXPECT_GE(info.created_at, before.info.updated_at);
    EXPECT_EQ(info.updated_at, info.created_at);
    EXPECT_EQ(info.head, 2u);
    EXPECT_EQ(info.next_turn, 7u);
    EXPECT_EQ(info.records, 3u);
    const auto copy = this->get(get_session{second});
    EXPECT_EQ(copy.info, info);
    EXPECT_EQ(copy.content, this->talk(3));
    EXPECT_EQ(this->sequences(second, true), this->sequences(first, true));
    EXPECT_EQ(this->sequences(second), this->sequences(first));
    for (const std::uint64_t i : {1, 2, 3}) {
      auto expected = this->read(first, i);
      expected.session = second.id;
      EXPECT_EQ(this->read(second, i), expected);
    }
    EXPECT_EQ(this->get(get_session{first}).info, before.info);
  }
}

TYPED_TEST_P(store_contract, a_copy_up_to_a_record_has_its_ancestors) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2", "/agent/b");
    this->save_all(first, {1, 2, 3});
    this->save(first, this->number(4), 1, append_rule::anywhere);
    this->save(first, this->number(5), 4);
    label_snapshot mark{snapshot_ref{first, 1}};
    mark.add = {"root"};
    this->get(mark);
    // an orphan, too, can be gone on with
    const auto info = this->get(copy_session{first, second, 3});
    EXPECT_EQ(info.head, 3u);
    EXPECT_EQ(info.next_turn, 1u);
    EXPECT_EQ(info.records, 3u);
    const std::vector<std::uint64_t> way{1, 2, 3};
    EXPECT_EQ(this->sequences(second), way);
    EXPECT_EQ(this->sequences(second, true), way);
    EXPECT_EQ(this->get(get_session{second}).content, this->number(3));
    EXPECT_EQ(this->read(second, 1).labels, std::vector<std::string>{"root"});
    EXPECT_EQ(this->save(second, this->number(6), 3).record.sequence, 4u);

    const auto third = this->at("3");
    this->get(copy_session{first, third, 4});
    EXPECT_EQ(this->sequences(third, true), (std::vector<std::uint64_t>{1, 4}));
    EXPECT_EQ(this->save(third, this->number(6), 4).record.sequence, 5u);
  }
}

TYPED_TEST_P(store_contract, a_copy_and_its_origin_go_their_own_ways) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2");
    const auto trunk = this->talk(5);
    const auto more = [&](const char* text) {
      return trunk.with_messages(trunk.messages().with(ai::user_text(text)));
    };
    this->save(first, trunk, 0);
    this->get(copy_session{first, second});
    this->save(first, more("one way"), 1);
    this->save(second, more("the other"), 1);
    for (const auto& of : {first, second})
      EXPECT_EQ(this->get(get_snapshot{snapshot_ref{of, 1}}).content, trunk);
    EXPECT_EQ(this->get(get_session{first}).content, more("one way"));
    EXPECT_EQ(this->get(get_session{second}).content, more("the other"));
    EXPECT_EQ(this->code(get_snapshot{{first.agent, {}, this->id_of(trunk)}}),
              errc::failed_precondition);
    EXPECT_EQ(this->get(delete_session{first}), (erased{2, 1}));
    EXPECT_EQ(this->restore(second, 1).content, trunk);
    EXPECT_EQ(this->restore(second, 2).content, more("the other"));
    EXPECT_EQ(this->get(delete_session{second}), (erased{2, 2}));
  }
}

TYPED_TEST_P(store_contract, a_copy_needs_an_origin_and_a_name_of_its_own) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2");
    this->save_all(first, {1});
    this->save_all(second, {2});
    EXPECT_EQ(this->code(copy_session{first, second}), errc::already_exists);
    EXPECT_NE(this->store.error().message().find("\"2\""), std::string::npos);
    EXPECT_EQ(this->code(copy_session{first, first}), errc::already_exists);
    const auto third = this->at("3");
    EXPECT_EQ(this->code(copy_session{third, this->at("4")}), errc::not_found);
    EXPECT_EQ(this->code(copy_session{first, third, 2}), errc::not_found);
    EXPECT_EQ(this->code(copy_session{first, this->at("")}),
              errc::invalid_argument);
    EXPECT_EQ(this->code(copy_session{this->at("1", ""), third}),
              errc::invalid_argument);
    EXPECT_EQ(this->code(get_session{third}), errc::not_found);
    EXPECT_EQ(this->get(get_session{second}).content, this->number(2));
  }
}

TYPED_TEST_P(store_contract, everything_is_verified_once) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2");
    const auto third = this->at("1", "/agent/b");
    this->save_all(first, {1, 2, 3});
    this->restore(first, 1);
    this->get(save_session{second, this->talk(3), 1});
    this->get(copy_session{first, third});
    for (const std::uint32_t limit : {0, 1, 2, 3, 5, 100}) {
      verify_sessions x;
      x.limit = limit;
      std::uint64_t sessions = 0;
      std::uint64_t records = 0;
      for (auto more = true; more;) {
        const auto page = this->get(x);
        ASSERT_GT(page.sessions + page.records, 0u);
        ASSERT_LE(page.sessions + page.records, std::max(limit, 1u));
        EXPECT_TRUE(page.damages.empty());
        sessions += page.sessions;
        records += page.records;
        x.after = page.last;
        x.after_record = page.last_record;
        more = page.more;
      }
      EXPECT_EQ(sessions, 3u);
      EXPECT_EQ(records, 6u);
      EXPECT_EQ(x.after, third);
      EXPECT_EQ(x.after_record, 3u);
      EXPECT_EQ(this->get(x), verified_page{});
    }
  }
}

TYPED_TEST_P(store_contract, one_agent_or_one_session_is_verified) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    for (const auto* agent : {"/agent/a", "/agent/b"})
      for (const auto* id : {"1", "2"})
        this->save_all(this->at(id, agent), {1, 2});
    verify_sessions x;
    x.agent = "/agent/b";
    auto page = this->get(x);
    EXPECT_EQ(page.sessions, 2u);
    EXPECT_EQ(page.records, 4u);
    x.session = session_id{"1"};
    page = this->get(x);
    EXPECT_EQ(page.sessions, 1u);
    EXPECT_EQ(page.records, 2u);
    EXPECT_EQ(page.last, this->at("1", "/agent/b"));
    EXPECT_FALSE(page.more);
    x.session = session_id{"3"};
    EXPECT_EQ(this->get(x), verified_page{});
    x.agent.clear();
    EXPECT_EQ(this->code(x), errc::invalid_argument);
  }
}

TYPED_TEST_P(store_contract, verification_goes_on_where_its_place_is_gone) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    for (const auto* id : {"1", "2", "3"})
      this->save_all(this->at(id), {1, 2});
    verify_sessions x;
    x.limit = 5; // the second session, and one record of it
    const auto page = this->get(x);
    EXPECT_EQ(page.last, this->at("2"));
    EXPECT_EQ(page.last_record, 1u);
    EXPECT_TRUE(page.more);
    this->get(delete_session{this->at("2")});
    x.after = page.last;
    x.after_record = page.last_record;
    const auto rest = this->get(x);
    EXPECT_EQ(rest.sessions, 1u);
    EXPECT_EQ(rest.records, 2u);
    EXPECT_FALSE(rest.more);
  }
}

TYPED_TEST_P(store_contract, verification_tells_corrupt_from_missing) {
  if constexpr (TestFixture::managed
                && corrupts_states<TypeParam> && loses_states<TypeParam>) {
    const auto first = this->at("1");
    const auto second = this->at("2");
    this->save_all(first, {1, 2, 4});
    this->save_all(second, {2, 1});
    const auto corrupt = this->number(1).id();
    const auto missing = this->number(2).id();
    this->store.factory().corrupt(corrupt);
    this->store.factory().lose(missing);
    const auto damages = this->get(verify_sessions{}).damages;
    ASSERT_EQ(damages.size(), 5u);
    const auto expect = [&](std::size_t i, damage_kind kind,
                            const session_ref& where, std::uint64_t sequence) {
      EXPECT_EQ(damages[i].kind, kind) << i;
      EXPECT_EQ(damages[i].where, where) << i;
      EXPECT_EQ(damages[i].sequence, sequence) << i;
      EXPECT_EQ(damages[i].state,
                kind == damage_kind::corrupt ? corrupt : missing)
        << i;
      EXPECT_FALSE(damages[i].what.empty()) << i;
    };
    expect(0, damage_kind::corrupt, first, 1);
    expect(1, damage_kind::missing, first, 2);
    expect(2, damage_kind::corrupt, second, 0); // what it works on
    expect(3, damage_kind::missing, second, 1);
    expect(4, damage_kind::corrupt, second, 2);
  } else {
    GTEST_SKIP() << "the factory does not damage states";
  }
}

#undef TERTULIA_NEEDS_MANAGED_STORE

// -- durable stores -----------------------------------------------------------

TYPED_TEST_P(store_contract, a_durable_store_knows_everything_again) {
  if constexpr (TestFixture::durable) {
    const auto of = this->at("s");
    this->save_all(of, {1, 2, 3});
    this->restore(of, 2);
    this->get(save_session{of, this->talk(3), 9});
    const auto before = this->get(get_session{of});
    const auto records = this->sequences(of, true);
    this->store.reopen();
    const auto after = this->get(get_session{of});
    EXPECT_EQ(after.info, before.info);
    EXPECT_EQ(after.content, this->talk(3));
    EXPECT_EQ(after.head.record, before.head.record);
    EXPECT_EQ(this->sequences(of, true), records);
    EXPECT_EQ(this->get(get_snapshot{snapshot_ref{of, 3}}).content,
              this->number(3));
    EXPECT_EQ(this->save(of, this->number(4), 2).record.sequence, 4u);
  } else {
    GTEST_SKIP() << "the store is not durable";
  }
}

// -- anything in any order ----------------------------------------------------

TYPED_TEST_P(store_contract, does_what_the_model_does) {
  using command = typename TestFixture::command;
  EXPECT_TRUE(rc::check("a store does what the model does", [] {
    const auto commands = *rc::gen::container<std::vector<command>>(
      rc::gen::container<command>(rc::gen::inRange(0, TestFixture::verbs)));
    const auto difference = TestFixture::difference(commands);
    if (!difference.empty())
      RC_FAIL(difference);
  }));
}

TYPED_TEST_P(store_contract, does_what_the_model_does_for_one_session) {
  using command = typename TestFixture::command;
  EXPECT_TRUE(rc::check("a session does what the model does", [] {
    auto commands = *rc::gen::container<std::vector<command>>(
      rc::gen::container<command>(rc::gen::inRange(0, TestFixture::verbs)));
    for (auto& x : commands)
      x[1] = 0;
    const auto difference = TestFixture::difference(commands);
    if (!difference.empty())
      RC_FAIL(difference);
  }));
}

REGISTER_TYPED_TEST_SUITE_P(
  store_contract, the_first_record_is_a_root, a_record_follows_its_parent,
  a_state_that_comes_back_is_recorded_again,
  an_id_means_the_last_active_record_that_has_it,
  an_id_without_active_records_means_its_last_one,
  saving_what_the_parent_has_changes_nothing,
  the_same_text_of_another_version_is_another_state,
  what_a_session_works_on_has_a_version,
  versions_of_a_conversation_go_on_from_each_other,
  who_saves_behind_a_head_that_has_moved_is_told,
  a_branch_orphans_what_it_leaves, a_record_can_be_saved_as_it_was,
  a_parent_that_is_not_there_is_not_found, a_state_with_another_id_is_refused,
  what_has_no_json_is_refused, empty_names_are_refused,
  what_was_saved_is_returned, logs_that_grow_from_a_state_leave_it_alone,
  a_record_alone_comes_without_its_state, a_corrupt_state_is_data_loss,
  a_missing_state_is_another_data_loss, an_id_in_one_session_needs_no_session,
  an_id_in_several_sessions_needs_the_session, what_is_not_there_is_not_found,
  an_unknown_session_has_no_snapshots, pages_show_everything_once,
  a_restore_moves_the_head_and_what_follows_it,
  an_orphan_is_recovered_by_restoring_it,
  two_restores_in_a_row_end_at_the_second, a_session_lives_without_snapshots,
  what_a_session_works_on_is_not_its_head, a_session_knows_when_it_changed,
  sessions_are_listed_in_pages, sessions_are_listed_with_what_they_are_about,
  sessions_have_titles, sessions_are_found_by_time_and_label,
  labels_are_ordered_and_distinct, labels_have_limits, a_snapshot_has_a_note,
  vacuuming_changes_nothing_that_is_kept,
  deleting_a_session_leaves_the_others_alone, pruning_keeps_heads_and_labels,
  versions_of_a_state_go_one_by_one, pruning_minds_age_number_and_session,
  a_copy_is_what_its_origin_was, a_copy_up_to_a_record_has_its_ancestors,
  a_copy_and_its_origin_go_their_own_ways,
  a_copy_needs_an_origin_and_a_name_of_its_own, everything_is_verified_once,
  one_agent_or_one_session_is_verified,
  verification_goes_on_where_its_place_is_gone,
  verification_tells_corrupt_from_missing,
  a_durable_store_knows_everything_again, does_what_the_model_does,
  does_what_the_model_does_for_one_session);

} // namespace tertulia
