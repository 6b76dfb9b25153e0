// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tertulia {

/// Data of a memory store. It outlives the actor that guards it, so it is not
/// lost when that actor ends.
///
/// Each verb of the protocol is one function. If it throws `status_error`, it
/// has not changed anything.
///
/// @threads one at a time: those of the actor that guards it.
class memory_store_data {
public:
  save_result answer(save_snapshot_request x);
  [[nodiscard]] stored_snapshot answer(const get_snapshot_request& x) const;
  stored_snapshot answer(const restore_snapshot_request& x);
  [[nodiscard]] snapshot_page answer(const list_snapshots_request& x) const;
  [[nodiscard]] stored_session answer(const get_session_request& x) const;
  session_info answer(save_session_request x);

  [[nodiscard]] session_page answer(const list_sessions_request& x) const;
  snapshot_record answer(const label_snapshot_request& x);
  erase_result answer(const delete_session_request& x);
  erase_result answer(const prune_snapshots_request& x);
  session_info answer(const copy_session_request& x);
  snapshot_record answer(const annotate_snapshot_request& x);
  session_info answer(const title_session_request& x);
  [[nodiscard]] verification_page
  answer(const verify_sessions_request& x) const;
  [[nodiscard]] static vacuum_result answer(const vacuum_store_request&) {
    return {};
  }

private:
  /// State and the number of records that refer to it.
  struct content {
    /// Returns whether the state still matches its id.
    [[nodiscard]] bool is_sound(const state_id& id) const;

    /// Returns the state if it still matches its id.
    /// @errors throws `data_loss` if it does not.
    [[nodiscard]] const state& verified(const state_id& id) const;

    state value;
    std::uint64_t records = 0;
  };

  /// Key of a state. The same text with another version is a different state.
  struct content_key {
    state_id id;
    stored_type type;

    friend bool operator==(const content_key&, const content_key&) = default;
  };

  struct content_hash {
    std::size_t operator()(const content_key& x) const noexcept {
      return std::hash<state_id>{}(x.id) ^ std::hash<stored_type>{}(x.type);
    }
  };

  using content_map = std::unordered_map<content_key, content, content_hash>;

  /// Record without the fields that its session or its neighbours provide:
  /// there are many records.
  struct entry {
    [[nodiscard]] const std::string& id() const noexcept;

    std::uint64_t sequence = 0;
    std::uint64_t parent = 0;
    std::uint64_t index = 0;
    std::uint64_t turn_index = 0;
    caf::timestamp created_at;
    content_map::value_type* kept = nullptr;
    /// Empty if the snapshot has the id of its state.
    snapshot_id own_id;
    std::vector<std::string> labels;
    snapshot_event event = snapshot_event::turn_end;
    /// Whether the record is the head or an ancestor of the head.
    bool active = false;
  };

  /// Session with its records.
  struct timeline {
    [[nodiscard]] const entry* find(std::uint64_t sequence) const noexcept;
    [[nodiscard]] entry* find(std::uint64_t sequence) noexcept;
    [[nodiscard]] snapshot_record record_of(const entry& x) const;

    /// Moves the head. Marks the records between the old head and the new one
    /// as active or orphaned, and does not touch any other record.
    void move_head(entry& to);

    void count_labels(const entry& x);
    void discount_labels(const entry& x) noexcept;

    /// Sets the working state of the session.
    void work_on(state x, state_id id);

    [[nodiscard]] session_position position() const;

    session_info info;
    /// Number of the session in the order of creation, for the index.
    std::uint64_t number = 0;
    std::uint64_t last_sequence = 0;
    /// Working state of the session, and its id.
    state content;
    state_id content_id;
    /// Ordered by sequence number.
    std::vector<entry> records;
    /// Number of records that have a label.
    std::map<std::string, std::uint64_t> labels;
    /// Notes of the few records that have one.
    std::map<std::uint64_t, std::string> notes;
  };

  /// Occurrence of an id. The order keeps the occurrences in one session
  /// together, the last one at the end.
  struct place {
    /// Hash of agent and id. Since hashes may collide, a lookup has to compare
    /// the id itself.
    std::uint64_t hash = 0;
    std::uint64_t session = 0;
    std::uint64_t sequence = 0;

    friend auto operator<=>(const place&, const place&) = default;
  };

  [[nodiscard]] static place place_of(const timeline& in, const entry& x);

  /// Session and record that a `snapshot_ref` refers to.
  struct found {
    const timeline* session = nullptr;
    const entry* record = nullptr;
  };

  [[nodiscard]] const timeline* find(const session_ref& x) const;
  [[nodiscard]] found find(const snapshot_ref& x) const;
  [[nodiscard]] const entry* find(const timeline& in, std::string_view id,
                                  std::uint64_t hash) const;
  timeline& find_or_make(const session_ref& x, caf::timestamp now);

  /// Removes all references to a record.
  /// @returns the number of states that were erased with it: 0 or 1.
  std::uint64_t drop(timeline& from, const entry& x);

  erase_result prune(timeline& x, const prune_snapshots_request& request);

  /// Casts away `const` for a function that may change the data, which itself
  /// is not const.
  [[nodiscard]] static timeline& writable(const timeline& x) noexcept {
    return const_cast<timeline&>(x);
  }

  std::map<session_ref, timeline> sessions_;
  content_map states_;
  std::map<place, const timeline*> index_;
  std::uint64_t last_number_ = 0;
};

} // namespace tertulia
