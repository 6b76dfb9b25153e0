// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/sha256.hpp>
#include <tertulia/state.hpp>
#include <tertulia/store.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sqlite_db.hpp"
#include "sqlite_known_logs.hpp"

namespace tertulia {

/// The states in a file, and what they consist of: messages, which are written
/// once, and blobs. See sqlite_format.md.
///
/// @pre     a transaction is open wherever something is written; what fails
///          there leaves the rest to a rollback and `forget_all`.
/// @threads those of the connection.
class sqlite_states {
public:
  using place = sqlite_log_place;

  struct kept {
    std::int64_t key = 0;
    place messages;
  };

  explicit sqlite_states(sqlite_db& db, std::size_t remembered_messages);

  /// Whose state is written, and what that says about it.
  struct origin {
    /// What is remembered of this session says what is new; 0 for a new one.
    std::int64_t session = 0;
    /// A state whose messages it is likely to have, if nothing is remembered; 0
    /// for none.
    std::int64_t base = 0;
    /// What the session has worked on so far. It may be gone afterwards if
    /// nothing else refers to it.
    std::int64_t replaced = 0;
  };

  /// Writes what is new in a state.
  [[nodiscard]] kept keep(const state& x, const state_id& id,
                          const origin& from);

  /// Messages that were just read.
  struct loaded {
    place where;
    ai::message_log log;
  };

  /// Reads a state and verifies it.
  /// @param  last what was read before: the state shares the messages that both
  ///              have in common, and only those behind them are read.
  /// @errors `data_loss`.
  [[nodiscard]] state load(std::int64_t key, loaded* last = nullptr);

  /// Messages that the last page of a list has ended with, so that the next one
  /// goes on from there; none if that is not known any more.
  [[nodiscard]] loaded listed() const;
  void remember_listed(const loaded& x);

  /// Reads id and type of a state.
  /// @errors `data_loss`.
  [[nodiscard]] std::pair<state_id, stored_type> name_of(std::int64_t key);

  /// What was verified last, so that a state that has grown from it costs what
  /// it has grown by. Nothing may be written while it is used.
  struct verifier {
    place where;
    sha256 hash; ///< of the messages there
    std::int64_t key = 0;
    std::optional<damage_kind> damaged; ///< what was said of the key
    std::uint64_t bytes = 0;            ///< how many were hashed so far
  };

  struct verified {
    state_id id; ///< empty if the state itself is missing
    std::optional<damage_kind> damaged;
  };

  /// Says whether a state is there and is what its id says, without making
  /// messages of it: what is hashed is the text in the file.
  [[nodiscard]] verified verify(std::int64_t key, verifier& last);

  /// What a session works on is this from now on.
  void remember(std::int64_t session, const ai::message_log& log, place where);

  /// The same of a state that was just loaded.
  void remember(std::int64_t session, const state& x, std::int64_t key);

  /// The same of a state, if what is remembered of another session is just it.
  void remember_same(std::int64_t from, std::int64_t session, std::int64_t key);

  /// Whether what is remembered of a session shares as many messages with a log
  /// as a state has: whoever branches off there need not read them.
  [[nodiscard]] bool remembers(std::int64_t session, const ai::message_log& log,
                               std::int64_t state);

  void forget(std::int64_t session);
  void forget_all();

  /// Erases a state that neither record nor session refers to any more, and
  /// whatever only it needed. Does nothing with any other state.
  void release(std::int64_t key);

  /// Whether a record has this state.
  [[nodiscard]] bool has_records(std::int64_t key);

private:
  [[nodiscard]] place write(const ai::message_log& log, const origin& from);

  /// Where the longest beginning of a log is that is on disk already.
  [[nodiscard]] place find(const ai::message_log& log, const origin& from);

  /// Makes room behind a place by erasing the state that is about to be
  /// replaced, if that alone is in the way: else each change of the last
  /// message would make a branch.
  [[nodiscard]] bool make_room(place behind, const origin& from);

  /// What a state consists of.
  struct parts {
    std::int64_t branch = 0;
    std::int64_t custom = 0;
    std::int64_t artifacts = 0;
  };

  /// Erases a state, but not what it consists of.
  [[nodiscard]] std::optional<parts> erase_row(std::int64_t key);

  [[nodiscard]] std::uint64_t needed_of(std::int64_t branch);
  void erase_messages(place behind);

  /// Returns how many messages at the beginning are on disk at this place.
  [[nodiscard]] std::uint64_t common(const ai::message_log& log, place where);

  /// Returns a shorter beginning of the same messages.
  [[nodiscard]] place shorter(place x, std::uint64_t length);

  [[nodiscard]] std::optional<place> place_of(std::int64_t state);

  /// Returns the number of messages up to the last one in a branch; those of
  /// its ancestors alone if it has none.
  [[nodiscard]] std::uint64_t end_of(std::int64_t branch);

  [[nodiscard]] std::int64_t make_branch(place parent);

  struct branch {
    std::int64_t parent = 0;
    std::uint64_t start = 0;
  };

  [[nodiscard]] std::optional<branch> find_branch(std::int64_t key);

  /// One piece of a log: messages of one branch.
  struct piece {
    std::int64_t branch = 0;
    std::uint64_t first = 0;
    std::uint64_t last = 0; ///< behind the last one
  };

  /// Returns the pieces of a log behind a position, the first one first;
  /// nothing if a branch is missing.
  [[nodiscard]] std::optional<std::vector<piece>>
  pieces_of(place x, std::uint64_t position);

  /// Returns the longest beginning that two logs have in common, at the cost of
  /// the branches between them.
  [[nodiscard]] place common(place x, place y);

  /// Calls a function with the text of each message, in order, until it returns
  /// false.
  /// @param   position of the first one that is wanted.
  /// @returns the position behind the last one that there was in a row.
  std::uint64_t for_each_text(place x,
                              const std::function<bool(std::string_view)>& fn,
                              std::uint64_t position = 0);

  /// Returns the damage to the messages of a state, whose hash is that of
  /// `last` afterwards.
  [[nodiscard]] std::optional<damage_kind> verify(place x, verifier& last);

  [[nodiscard]] std::int64_t keep_blob(const std::string& text);
  void release_blob(std::int64_t key);
  void release_messages(std::int64_t branch);

  sqlite_db& db_;
  sqlite_known_logs known_;

  sqlite_statement find_;
  sqlite_statement next_;
  sqlite_statement insert_;
  sqlite_statement read_;
  sqlite_statement erase_;
  sqlite_statement has_records_;
  sqlite_statement has_sessions_;
  sqlite_statement has_others_;
  sqlite_statement find_branch_;
  sqlite_statement insert_branch_;
  sqlite_statement erase_branch_;
  sqlite_statement needed_of_branch_;
  sqlite_statement end_of_branch_;
  sqlite_statement insert_message_;
  sqlite_statement read_messages_;
  sqlite_statement erase_messages_;
  sqlite_statement find_blob_;
  sqlite_statement mend_blob_;
  sqlite_statement next_blob_;
  sqlite_statement insert_blob_;
  sqlite_statement read_blob_;
  sqlite_statement erase_blob_;
};

} // namespace tertulia
