// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/make_contents.hpp>
#include <tertulia/store_tables.hpp>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tertulia {

/// Tables of a memory store. They outlive the actor that guards them, so they
/// are not lost when that actor ends.
///
/// @threads one at a time: those of the actor that guards them.
class memory_tables final : public store_tables {
public:
  [[nodiscard]] store_contents& contents() noexcept override {
    return *contents_;
  }

  // -- sessions ---------------------------------------------------------------

  [[nodiscard]] std::optional<session_row>
  find_session(const session_ref& name) override;
  [[nodiscard]] std::optional<session_row>
  find_session(std::int64_t key) override;
  void for_each_session(const session_ref& after,
                        const std::function<bool(session_row)>& fn) override;
  [[nodiscard]] bool has_label(std::int64_t session,
                               const std::string& label) override;
  [[nodiscard]] std::vector<session_row>
  sessions_with(const std::string& agent, const snapshot_id& id,
                std::size_t limit) override;
  [[nodiscard]] std::int64_t add(const session_ref& name) override;
  void write(const session_row& x) override;
  void erase(const session_row& x) override;

  // -- leases -----------------------------------------------------------------

  [[nodiscard]] std::uint64_t add_lease(const session_ref& name) override;
  [[nodiscard]] std::uint64_t fence_of(const session_ref& name) override;
  void erase_lease(const session_ref& name) override;

  // -- records ----------------------------------------------------------------

  void for_each_record(std::int64_t session, std::uint64_t first,
                       std::uint64_t last,
                       const std::function<bool(record_row)>& fn) override;
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t>
  count_records(std::int64_t session) override;
  [[nodiscard]] std::uint64_t
  count_whole_records(std::int64_t session) override;
  [[nodiscard]] std::vector<std::uint64_t>
  records_with(std::int64_t session, const snapshot_id& id) override;
  [[nodiscard]] bool has_state(const content_row& x) override;
  void write(const record_row& x) override;
  void erase(const record_row& x) override;

private:
  /// Key of a state. The same text with another version is a different state.
  struct state_key {
    /// @errors throws `invalid_argument` for an id that is not a hash.
    explicit state_key(const content_row& x);

    std::array<std::uint8_t, 32> hash;
    stored_type type;
    state_form form;

    friend bool operator==(const state_key&, const state_key&) = default;
  };

  struct state_hash {
    std::size_t operator()(const state_key& x) const noexcept;
  };

  /// State and the number of records that have it.
  struct kept_state {
    state value;
    std::uint64_t records = 0;
  };

  using state_map = std::unordered_map<state_key, kept_state, state_hash>;

  /// Record without the fields that something else provides: there are many
  /// records.
  struct entry {
    std::uint64_t parent = 0;
    std::uint64_t run = 0;
    std::uint64_t index = 0;
    std::uint64_t turn_index = 0;
    timestamp created_at;
    state_map::value_type* kept = nullptr;
    snapshot_event event = snapshot_event::turn_end;
    std::optional<ai::finish_reason> finish_reason;
    std::optional<std::uint64_t> inputs;
    snapshot_id own_id;
  };

  /// Fields that only few records have.
  struct remarks {
    std::vector<std::string> labels;
    std::string note;
  };

  /// Session with its records.
  struct timeline {
    session_row row;
    std::map<std::uint64_t, entry> records;
    std::map<std::uint64_t, remarks> remarked;
    /// Number of records that have a label.
    std::map<std::string, std::uint64_t> labels;
    /// Fence of its lease; 0 without a lease.
    std::uint64_t fence = 0;

    [[nodiscard]] record_row record_of(std::uint64_t sequence,
                                       const entry& x) const;
  };

  /// Occurrence of an id. The order keeps the occurrences in one session
  /// together, the last one at the end.
  struct place {
    /// Hash of agent and id. Since hashes may collide, a lookup has to compare
    /// the id itself.
    std::uint64_t hash = 0;
    std::int64_t session = 0;
    std::uint64_t sequence = 0;

    friend auto operator<=>(const place&, const place&) = default;
  };

  [[nodiscard]] static place place_of(const timeline& in,
                                      std::uint64_t sequence, const entry& x);

  static void remark(timeline& in, std::uint64_t sequence, remarks x);

  /// Removes a record's entries in the indexes, and its state if no other
  /// record has it.
  void remove_from_indexes(timeline& in, std::uint64_t sequence,
                           const entry& x);

  /// Session among those of its agent. The beginning of its id decides almost
  /// each comparison, so that a lookup reads the rows of few sessions.
  struct named_session {
    explicit named_session(timeline& x) noexcept
      : id_begin(begin_of(x.row.info.id.str())), session(&x) {}

    /// Returns the first bytes of an id, in the order of the ids.
    static std::uint64_t begin_of(std::string_view id) noexcept;

    [[nodiscard]] std::string_view id() const noexcept {
      return session->row.info.id.str();
    }

    std::uint64_t id_begin;
    timeline* session;
  };

  /// Order of the ids, which a session keeps only once.
  struct by_id {
    using is_transparent = void;

    bool operator()(const named_session& x,
                    const named_session& y) const noexcept {
      return x.id_begin != y.id_begin ? x.id_begin < y.id_begin
                                      : x.id() < y.id();
    }

    bool operator()(const named_session& x, std::string_view y) const noexcept {
      const auto begin = named_session::begin_of(y);
      return x.id_begin != begin ? x.id_begin < begin : x.id() < y;
    }

    bool operator()(std::string_view x, const named_session& y) const noexcept {
      const auto begin = named_session::begin_of(x);
      return begin != y.id_begin ? begin < y.id_begin : x < y.id();
    }
  };

  /// Returns a session; null if there is none.
  [[nodiscard]] timeline* find(const session_ref& name) const;

  std::unordered_map<std::int64_t, timeline> sessions_;
  std::map<std::string, std::set<named_session, by_id>> by_agent_;
  /// Fences of sessions that do not exist (yet).
  std::map<session_ref, std::uint64_t> other_fences_;
  std::set<place> ids_;
  state_map states_;
  std::int64_t last_key_ = 0;
  std::shared_ptr<store_contents> contents_ = make_held_contents();
};

} // namespace tertulia
