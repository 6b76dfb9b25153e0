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

/// What a memory store knows. It outlives the actor that guards it, so that
/// whatever ends that actor ends nothing else.
///
/// Each verb of the protocol is one function, which throws `status_error` and
/// has changed nothing then.
///
/// @threads one at a time: those of the actor that guards it.
class memory_store_data {
public:
  saved_snapshot save(save_snapshot x);
  [[nodiscard]] stored_snapshot get(const get_snapshot& x) const;
  stored_snapshot restore(const restore_snapshot& x);
  [[nodiscard]] snapshot_page list(const list_snapshots& x) const;
  [[nodiscard]] stored_session get(const get_session& x) const;
  session_info save(save_session x);

  [[nodiscard]] session_page list(const list_sessions& x) const;
  snapshot_record label(const label_snapshot& x);
  erased erase(const delete_session& x);
  erased prune(const prune_snapshots& x);
  session_info copy(const copy_session& x);
  snapshot_record annotate(const annotate_snapshot& x);
  session_info title(const title_session& x);
  [[nodiscard]] verified_page verify(const verify_sessions& x) const;

private:
  /// A state and how many records have it.
  struct content {
    /// Says whether it still is what its id says.
    [[nodiscard]] bool is_sound(const state_id& id) const;

    /// Hands out the state only if it is.
    /// @errors throws `data_loss`.
    [[nodiscard]] const state& verified(const state_id& id) const;

    state value;
    std::uint64_t records = 0;
  };

  /// The same text of another version is another state.
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

  /// A record without what its session or its neighbours know, for there are
  /// many of them.
  struct entry {
    [[nodiscard]] const std::string& id() const noexcept;

    std::uint64_t sequence = 0;
    std::uint64_t parent = 0;
    std::uint64_t index = 0;
    std::uint64_t turn_index = 0;
    caf::timestamp created_at;
    content_map::value_type* kept = nullptr;
    /// Empty if the state's id is the snapshot's, too.
    snapshot_id own_id;
    std::vector<std::string> labels;
    snapshot_event event = snapshot_event::turn_end;
    /// Whether it is the head or an ancestor of it.
    bool active = false;
  };

  /// One session.
  struct timeline {
    [[nodiscard]] const entry* find(std::uint64_t sequence) const noexcept;
    [[nodiscard]] entry* find(std::uint64_t sequence) noexcept;
    [[nodiscard]] snapshot_record record_of(const entry& x) const;

    /// Marks what becomes active or orphaned on the way from the old head to
    /// the new one and touches nothing else.
    void move_head(entry& to);

    void count_labels(const entry& x);
    void discount_labels(const entry& x) noexcept;

    /// What the session works on is this from now on.
    void work_on(state x, state_id id);

    [[nodiscard]] session_position position() const;

    session_info info;
    /// In the order in which sessions were made, for the index.
    std::uint64_t number = 0;
    std::uint64_t last_sequence = 0;
    /// What the session works on, and its id.
    state content;
    state_id content_id;
    /// Ordered by sequence number.
    std::vector<entry> records;
    /// How many records have a label.
    std::map<std::string, std::uint64_t> labels;
    /// Of those few records that have one.
    std::map<std::uint64_t, std::string> notes;
  };

  /// Where an id occurs: ordered so that the occurrences in one session are
  /// neighbours, the last one at the end.
  struct place {
    /// Of agent and id: whoever finds a place has to compare the id itself.
    std::uint64_t hash = 0;
    std::uint64_t session = 0;
    std::uint64_t sequence = 0;

    friend auto operator<=>(const place&, const place&) = default;
  };

  [[nodiscard]] static place place_of(const timeline& in, const entry& x);

  /// What a `snapshot_ref` stands for.
  struct found {
    const timeline* session = nullptr;
    const entry* record = nullptr;
  };

  [[nodiscard]] const timeline* find(const session_ref& x) const;
  [[nodiscard]] found find(const snapshot_ref& x) const;
  [[nodiscard]] const entry* find(const timeline& in, std::string_view id,
                                  std::uint64_t hash) const;
  timeline& find_or_make(const session_ref& x, caf::timestamp now);

  /// Forgets what points to a record.
  /// @returns how many states went with it: none or one.
  std::uint64_t drop(timeline& from, const entry& x);

  erased prune(timeline& x, const prune_snapshots& how);

  /// The data itself is not const; a caller who may change it casts here.
  [[nodiscard]] static timeline& writable(const timeline& x) noexcept {
    return const_cast<timeline&>(x);
  }

  std::map<session_ref, timeline> sessions_;
  content_map states_;
  std::map<place, const timeline*> index_;
  std::uint64_t last_number_ = 0;
};

} // namespace tertulia
