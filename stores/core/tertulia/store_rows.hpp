// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/sha256.hpp>
#include <tertulia/snapshot.hpp>
#include <tertulia/state.hpp>
#include <tertulia/store/names.hpp>
#include <tertulia/stored_type.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

// Rows of a store: one struct for each table, with its columns in one place.
// What the rows mean is described in docs/stores.md#rows.

namespace tertulia {

/// First messages of a branch, including those of its ancestors.
struct log_place {
  std::int64_t branch = 0; ///< 0 without messages
  std::uint64_t length = 0;

  friend bool operator==(const log_place&, const log_place&) = default;
};

/// Columns of a state. A record has them, and a session for the state that it
/// works on.
struct content_row {
  state_id id;
  stored_type type;
  state_form form = state_form::plain;
  log_place messages;
  /// Keys of the custom value and of the list of artifacts; 0 for none. The
  /// value of a plain state is its custom value.
  std::int64_t custom = 0;
  std::int64_t artifacts = 0;
  /// The state itself in a store that keeps states in memory: no column.
  state held;

  /// Returns whether both are the same state, wherever it is stored.
  [[nodiscard]] bool is_same_state(const content_row& x) const noexcept {
    return id == x.id && form == x.form && type == x.type;
  }
};

/// Row of a session.
struct session_row {
  /// 0 for a session that has not been written.
  std::int64_t key = 0;
  session_info info;
  /// Greatest number that a record of the session has had.
  std::uint64_t last_sequence = 0;
  /// State that the session works on.
  content_row content;
  /// Number of messages of the working state's branch that must stay because a
  /// record, another branch or another session needs them, including those of
  /// its ancestors. The session appends to the branch, and may replace the
  /// messages behind these. `not_owned` if it may do neither.
  std::uint64_t sealed = 0;
  /// Whether only the working state has its custom value, or its artifacts.
  bool owns_custom = false;
  bool owns_artifacts = false;
  /// Whether the row is as it was written: no column.
  bool is_whole = true;

  static constexpr std::uint64_t not_owned
    = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] session_ref name() const {
    return {info.agent, info.id};
  }
};

/// Row of a record.
struct record_row {
  /// Key of its session.
  std::int64_t session = 0;
  std::uint64_t sequence = 0;
  std::uint64_t parent = 0;
  /// First number of the unbranched run that ends at `sequence`: when the run
  /// was made, each record but the first had the number before it as its
  /// parent.
  std::uint64_t run = 0;
  std::uint64_t index = 0;
  std::uint64_t turn_index = 0;
  snapshot_event event = snapshot_event::turn_end;
  std::optional<ai::finish_reason> finish_reason;
  std::optional<std::uint64_t> inputs;
  timestamp created_at;
  /// Empty if the snapshot has the id of its state.
  snapshot_id own_id;
  std::string note;
  content_row content;
  /// Ordered, distinct.
  std::vector<std::string> labels;
  /// Whether the row is as it was written: no column.
  bool is_whole = true;

  [[nodiscard]] snapshot_id id() const {
    return own_id.empty() ? snapshot_id{content.id.str()} : own_id;
  }
};

/// Row of a branch: it begins with the first `start` messages of its parent.
struct branch_row {
  std::int64_t key = 0;
  /// Key of the session that made the branch. It may have been erased, if other
  /// sessions share the branch.
  std::int64_t owner = 0;
  /// An older branch; 0 for a branch that begins with nothing.
  std::int64_t parent = 0;
  std::uint64_t start = 0;
};

/// Row of a share: a session needs a branch or a value that another session has
/// made. It is written when states are copied from session to session.
struct share_row {
  /// Key of the branch, or of the value: the keys of values are greater than
  /// those of all branches.
  std::int64_t item = 0;
  /// Key of the session that needs it.
  std::int64_t session = 0;
  /// Number of messages that it needs of a branch, including those of the
  /// ancestors; 1 for a value.
  std::uint64_t length = 0;
};

namespace detail {

template <class T, class Row>
concept is_row = std::same_as<std::remove_const_t<T>, Row>;

} // namespace detail

/// Calls a function with the name and the value of each column, in order.
template <detail::is_row<content_row> Row, class Fn>
void for_each_column(Row& x, Fn&& fn) {
  fn("state", x.id);
  fn("type", x.type);
  fn("form", x.form);
  fn("branch", x.messages.branch);
  fn("length", x.messages.length);
  fn("custom", x.custom);
  fn("artifacts", x.artifacts);
}

/// Calls a function with the name and the value of each column, in order.
template <detail::is_row<session_row> Row, class Fn>
void for_each_column(Row& x, Fn&& fn) {
  fn("key", x.key);
  fn("agent", x.info.agent);
  fn("id", x.info.id);
  fn("created_at", x.info.created_at);
  fn("updated_at", x.info.updated_at);
  fn("head", x.info.head);
  fn("next_turn", x.info.next_turn);
  fn("last_sequence", x.last_sequence);
  fn("records", x.info.records);
  for_each_column(x.content, fn);
  fn("sealed", x.sealed);
  fn("owns_custom", x.owns_custom);
  fn("owns_artifacts", x.owns_artifacts);
  fn("title", x.info.title);
  fn("preview", x.info.preview);
  fn("messages", x.info.messages);
  fn("bytes", x.info.bytes);
  fn("inputs", x.info.inputs);
  fn("turn", x.info.turn);
  fn("past_turns", x.info.past_turns);
}

/// Calls a function with the name and the value of each column, in order, and
/// with the labels, which a store may keep elsewhere.
template <detail::is_row<record_row> Row, class Fn>
void for_each_column(Row& x, Fn&& fn) {
  fn("session", x.session);
  fn("sequence", x.sequence);
  fn("parent", x.parent);
  fn("run", x.run);
  fn("depth", x.index);
  fn("turn_index", x.turn_index);
  fn("event", x.event);
  fn("created_at", x.created_at);
  fn("own_id", x.own_id);
  fn("note", x.note);
  for_each_column(x.content, fn);
  fn("labels", x.labels);
  fn("finish_reason", x.finish_reason);
  fn("inputs", x.inputs);
}

/// Returns the checksum of a row: the first eight bytes of the SHA-256 of its
/// columns. It protects against accidental damage, not against malice.
/// @design docs/sqlite-format.md#terms.
[[nodiscard]] std::int64_t checksum_of(const session_row& x);
[[nodiscard]] std::int64_t checksum_of(const record_row& x);

} // namespace tertulia
