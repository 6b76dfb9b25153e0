// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/message_log.hpp>
#include <tertulia/sha256.hpp>
#include <tertulia/store/damage.hpp>
#include <tertulia/store_rows.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace tertulia {

/// States of a store: how the columns of a state refer to its messages and
/// values.
///
/// There are two kinds, see tertulia/make_contents.hpp.
///
/// @pre     a transaction is open during every write; after a failed write the
///          caller rolls back and calls `forget`.
/// @threads one at a time.
class store_contents {
public:
  store_contents() = default;
  store_contents(const store_contents&) = delete;
  store_contents& operator=(const store_contents&) = delete;
  virtual ~store_contents() = default;

  // -- writing ----------------------------------------------------------------

  /// Makes a state the working state of a session: writes its new parts and
  /// erases the parts that only the former working state needed. Does not write
  /// the row of the session.
  /// @param base state from whose messages the new state continues; null for
  ///        the working state.
  virtual void work_on(session_row& in, const state& x, const state_id& id,
                       const content_row* base)
    = 0;

  /// Makes the state of a record the working state of its session.
  virtual void switch_to(session_row& in, const content_row& x) = 0;

  /// Notes that a record or another session has the working state, too.
  virtual void seal(session_row& in) = 0;

  /// Notes that a session has states of another one.
  virtual void
  share(std::int64_t session, const std::vector<content_row>& states)
    = 0;

  /// Branch or value that a session does not share any more. Its owner may be
  /// the only one that is left to need it.
  struct released {
    std::int64_t owner = 0;
    std::int64_t item = 0;
  };

  /// Erases the messages and values of a session that neither its states nor
  /// other sessions need.
  /// @param needed states of the session; none if it has been erased.
  /// @param values values that it may need no more.
  /// @returns what must be swept from the sessions that own it.
  [[nodiscard]] virtual std::vector<released>
  sweep(std::int64_t session, const std::vector<content_row>& needed,
        const std::vector<std::int64_t>& values)
    = 0;

  /// Returns all values that a session owns.
  [[nodiscard]] virtual std::vector<std::int64_t>
  values_of(std::int64_t session) = 0;

  // -- reading ----------------------------------------------------------------

  /// Log that was just read and its place.
  struct loaded {
    log_place where;
    ai::message_log log;
  };

  /// Reads a state and verifies it.
  /// @param  last log that was read before, and then that of the state: the
  ///         state shares the messages that both have in common, and only the
  ///         messages after those are read.
  /// @errors `data_loss`.
  [[nodiscard]] virtual state load(const content_row& x, loaded* last) = 0;

  /// Result of the last verification. A state that extends the previous one
  /// costs only its additional messages. Nothing may be written while a
  /// verifier is used.
  struct verifier {
    log_place where;
    sha256 hash; ///< of the messages at `where`
    content_row content;
    std::optional<damage_kind> damaged; ///< result for `content`
    std::uint64_t bytes = 0;            ///< number of bytes hashed so far
  };

  /// Verifies that a state exists and matches its id.
  [[nodiscard]] virtual std::optional<damage_kind>
  verify(const content_row& x, verifier& last) = 0;

  // -- remembering ------------------------------------------------------------

  /// Remembers that the working state of a session was just read or copied, so
  /// that the next state need not be compared with what is stored.
  virtual void remember(const session_row&, const state&) {}
  virtual void remember_copy(const session_row&, const session_row&) {}

  /// Forgets what is remembered of one session, or of all.
  virtual void forget(std::int64_t) {}
  virtual void forget_all() {}
};

} // namespace tertulia
