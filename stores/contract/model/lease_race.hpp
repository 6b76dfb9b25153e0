// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>
#include <tertulia/store_contract.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace tertulia::detail {

/// Writers that acquire the leases of the same sessions, save, lose their
/// leases, and save too late. A model knows who may write.
///
/// Records are saved as branches, which are accepted behind any record, so
/// nothing but the fences keeps the writers apart.
///
/// @threads one at a time.
class lease_race {
public:
  /// Verb, writer and session, as numbers, so that a failing sequence can be
  /// shrunk.
  using command = std::array<int, 3>;

  static constexpr int verbs = 12;

  /// Sends the requests of the writers to a new store.
  /// @returns the first reply that the model does not expect; empty without
  ///          one.
  static std::string difference(const store_kind& kind,
                                const std::vector<command>& commands) {
    contract_store store{kind.make_factory()};
    lease_race race{store};
    for (const auto& x : commands)
      if (auto text = race.run(x); !text.empty())
        return text;
    return race.compare_records();
  }

  explicit lease_race(contract_store& store) : store_(store) {
    for (auto& x : writers_)
      x.holder = store_.start_holder();
  }

  ~lease_race() {
    for (auto& x : writers_)
      store_.kill(x.holder);
  }

private:
  static constexpr std::size_t sessions = 2;
  static constexpr std::size_t nobody = 9;

  struct writer {
    lease_holder holder;
    /// Fence of the last lease of each session, whether or not it has ended.
    std::array<std::uint64_t, sessions> fence{};
    /// Head of the session when the writer last knew it.
    std::array<std::uint64_t, sessions> head{};
  };

  struct session_model {
    std::size_t holder = nobody;
    std::uint64_t fence = 0; // 0: no change is accepted
    /// Whether the store was opened again since: it may have forgotten.
    bool is_doubtful = false;
    std::vector<std::uint64_t> records;
  };

  std::string run(const command& x) {
    const auto who = static_cast<std::size_t>(x[1]) % writers_.size();
    const auto where = static_cast<std::size_t>(x[2]) % sessions;
    switch (x[0]) {
      case 0:
      case 1: return acquire(who, where, if_live::refuse);
      case 2:
      case 3: return acquire(who, where, if_live::take_over);
      case 4: return release(who, where);
      case 5: return crash(who);
      case 6:
        if (store_.factory().is_durable())
          return reopen();
        [[fallthrough]];
      default: return save(who, where);
    }
  }

  static session_ref name_of(std::size_t session) {
    return store_requests::at(std::to_string(session));
  }

  std::string acquire(std::size_t who, std::size_t where, if_live rule) {
    auto& session = model_[where];
    auto& writer = writers_[who];
    const auto reply = store_(
      acquire_lease_request{name_of(where), writer.holder, "here", rule});
    const auto is_free = session.holder == nobody || session.holder == who
                         || rule == if_live::take_over;
    if (const auto* code = std::get_if<errc>(&reply))
      return is_free || *code != errc::failed_precondition
               ? fmt::format("a lease is refused: {}", to_string(*code))
               : std::string{};
    if (!is_free)
      return "a lease that is held is granted";
    const auto fence = std::get<0>(reply).fence;
    if (fence <= last_fence_)
      return "a fence is not greater than the one before";
    last_fence_ = fence;
    if (session.holder != nobody && session.holder != who)
      end_all(session.holder); // the holder releases all leases when cancelled
    session.holder = who;
    session.fence = fence;
    session.is_doubtful = false;
    writer.fence[where] = fence;
    const auto known
      = store_(get_session_request{name_of(where), detail_level::record});
    writer.head[where] = known.index() == 0 ? std::get<0>(known).info.head : 0;
    const auto expected = session.records.empty() ? 0 : session.records.back();
    return writer.head[where] == expected
             ? std::string{}
             : "a lease begins without the changes before it";
  }

  std::string release(std::size_t who, std::size_t where) {
    auto& session = model_[where];
    const auto reply
      = store_(release_lease_request{writers_[who].holder, name_of(where)});
    if (reply.index() != 0)
      return "a release fails";
    if (std::get<0>(reply) != (session.holder == who))
      return "a release does not say whether there was a lease";
    if (session.holder == who)
      end(session);
    return {};
  }

  std::string crash(std::size_t who) {
    auto& holder = writers_[who].holder;
    store_.kill(holder);
    // The store may not have noticed yet.
    static_cast<void>(store_(release_lease_request{holder}));
    holder = store_.start_holder();
    end_all(who);
    return {};
  }

  void end_all(std::size_t who) {
    for (auto& x : model_)
      if (x.holder == who)
        end(x);
  }

  static void end(session_model& x) {
    x.holder = nobody;
    x.fence = 0;
  }

  std::string reopen() {
    for (auto& x : writers_)
      store_.kill(x.holder);
    for (auto& x : model_)
      if (x.holder != nobody) {
        x.holder = nobody;
        x.is_doubtful = true;
      }
    store_.reopen();
    for (auto& x : writers_)
      x.holder = store_.start_holder();
    return {};
  }

  std::string save(std::size_t who, std::size_t where) {
    auto& session = model_[where];
    auto& writer = writers_[who];
    if (writer.fence[where] == 0)
      return {};
    const auto value = store_requests::number(++last_value_);
    const auto reply = store_(save_snapshot_request{
      store_requests::record(name_of(where), value, writer.head[where]),
      value,
      append_rule::anywhere,
      {},
      writer.fence[where]});
    const auto* code = std::get_if<errc>(&reply);
    if (code != nullptr && *code != errc::aborted)
      return fmt::format("a change fails: {}", to_string(*code));
    const auto is_valid = writer.fence[where] == session.fence;
    if (code == nullptr && !is_valid)
      return "a change with an older fence is accepted";
    if (code != nullptr && is_valid && !session.is_doubtful)
      return "a change with the last fence is aborted";
    if (code != nullptr) {
      if (is_valid)
        session.fence = 0; // the store has forgotten the lease
      return {};
    }
    session.is_doubtful = false;
    writer.head[where] = std::get<0>(reply).record.sequence;
    session.records.push_back(writer.head[where]);
    return {};
  }

  /// Compares the records of all sessions: a chain of the accepted ones.
  std::string compare_records() {
    for (std::size_t i = 0; i < sessions; ++i) {
      list_snapshots_request x{name_of(i)};
      x.with_orphans = true;
      x.limit = max_page;
      const auto reply = store_(x);
      std::vector<std::uint64_t> found;
      std::uint64_t parent = 0;
      for (const auto& y : std::get<0>(reply).snapshots) {
        if (y.record.parent != parent)
          return "a record does not follow the one before";
        parent = y.record.sequence;
        found.push_back(parent);
      }
      if (found != model_[i].records)
        return "a session has other records than were accepted";
    }
    return {};
  }

  contract_store& store_;
  std::array<writer, 3> writers_;
  std::array<session_model, sessions> model_;
  std::uint64_t last_fence_ = 0;
  int last_value_ = 0;
};

} // namespace tertulia::detail
