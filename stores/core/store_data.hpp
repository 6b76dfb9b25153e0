// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/counted_actor.hpp>
#include <tertulia/store.hpp>
#include <tertulia/store_tables.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "contents/store_contents.hpp"
#include "verbs/store_verbs.hpp"

namespace tertulia {

/// Sessions and records in the tables of a store: what the verbs of the
/// protocol share.
///
/// The verbs are functions beside it: `answer(data, request)`, see
/// store_verbs.hpp.
///
/// @errors throws `status_error`.
/// @threads one at a time.
class store_data : verb_functions<managed_store::signatures> {
public:
  /// @param counts of the actor, to which commits are added.
  explicit store_data(std::shared_ptr<store_tables> tables,
                      std::shared_ptr<detail::actor_counts> counts
                      = std::make_shared<detail::actor_counts>())
    : owned_(std::move(tables)), tables_(*owned_),
      contents_(tables_.contents()), counts_(std::move(counts)) {}

  [[nodiscard]] store_tables& tables() noexcept {
    return tables_;
  }

  [[nodiscard]] store_contents& contents() noexcept {
    return contents_;
  }

  // -- transactions -----------------------------------------------------------

  void begin();
  void commit();
  void roll_back() noexcept;

  [[nodiscard]] bool in_transaction() const noexcept {
    return tables_.in_transaction();
  }

  /// Returns a number that every write increases.
  [[nodiscard]] std::int64_t written() const noexcept {
    return tables_.written();
  }

  // -- finding ----------------------------------------------------------------

  /// Session and record that a `snapshot_ref` refers to.
  struct found {
    session_row in;
    record_row what;
  };

  /// Range of sequence numbers on the path from the root to the head, both ends
  /// included.
  struct stretch {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };

  /// Finds a session even if it is damaged.
  [[nodiscard]] std::optional<session_row> find_any(const session_ref& x);
  [[nodiscard]] std::optional<session_row> find(const session_ref& x);
  [[nodiscard]] session_row find_known(const session_ref& x);
  /// Finds a record even if it is damaged.
  [[nodiscard]] std::optional<record_row> find_any(const session_row& in,
                                                   std::uint64_t sequence);
  [[nodiscard]] std::optional<record_row> find(const session_row& in,
                                               std::uint64_t sequence);
  [[nodiscard]] std::optional<record_row> find(const session_row& in,
                                               const snapshot_id& id);
  /// Also finds the snapshot with which a run has ended by the id of the run.
  [[nodiscard]] found find(const snapshot_ref& x);
  /// Finds only a snapshot that has the id itself.
  [[nodiscard]] std::optional<found> find_stored(const snapshot_ref& x);

  /// Returns the first record in a range if it is undamaged and the engine can
  /// read it.
  [[nodiscard]] std::optional<record_row>
  first_whole(std::int64_t session, std::uint64_t first, std::uint64_t last);

  /// Throws if a record of the session is damaged or missing.
  void expect_all_records(const session_row& in);

  /// Throws if a record on a path from the root is damaged or missing.
  void expect_way(const session_row& in, const std::vector<stretch>& way);

  /// Returns the path from the head to the root, the head first, at least down
  /// to `until`.
  [[nodiscard]] std::vector<stretch> active(const session_row& x,
                                            std::uint64_t until);
  [[nodiscard]] bool is_active(const session_row& x, std::uint64_t sequence);

  /// Returns a record as the protocol shows it.
  [[nodiscard]] snapshot_record record_of(const session_row& in,
                                          const record_row& x, bool orphaned);
  /// @param parent row of the parent; null if it is missing or damaged.
  [[nodiscard]] static snapshot_record
  record_of(const session_row& in, const record_row& x,
            const record_row* parent, bool orphaned);

  // -- sweeping ---------------------------------------------------------------

  /// Erases what a session no longer needs.
  /// @param needed states of the session.
  /// @param values values that it may need no more.
  void sweep(std::int64_t session, const std::vector<content_row>& needed,
             const std::vector<std::int64_t>& values);

  /// Returns how many of the states of erased records no record has any more.
  [[nodiscard]] std::uint64_t count_gone(std::vector<content_row> states);

  // -- lists ------------------------------------------------------------------

  /// Progress of a list, from which the next page continues.
  struct listing {
    session_row in;
    /// Sequence number of the last record on the page.
    std::uint64_t after = 0;
    /// Complete path from the root to the head.
    std::vector<stretch> way;
    store_contents::loaded last;
  };

  /// Returns the list that was read last, from which its next page continues.
  [[nodiscard]] listing& listed() noexcept {
    return listed_;
  }

private:
  /// Returns the states that a session needs; nothing if that is unknown
  /// because of damage.
  [[nodiscard]] std::optional<std::vector<content_row>>
  states_of(std::int64_t session);

  std::shared_ptr<store_tables> owned_;
  store_tables& tables_;
  store_contents& contents_;
  std::shared_ptr<detail::actor_counts> counts_;
  std::int64_t written_before_ = 0; ///< the transaction
  listing listed_;
};

} // namespace tertulia
