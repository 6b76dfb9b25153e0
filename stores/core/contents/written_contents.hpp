// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/content_tables.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "known_logs.hpp"
#include "message_branches.hpp"
#include "store_contents.hpp"

namespace tertulia {

/// States whose parts are written, see `make_written_contents`.
class written_contents final : public store_contents {
public:
  written_contents(content_tables& tables, std::size_t remembered_messages)
    : tables_(tables), branches_(tables), known_(remembered_messages) {}

  void work_on(session_row& in, const state& x, const state_id& id,
               const content_row* base) override;
  void switch_to(session_row& in, const content_row& x) override;
  void seal(session_row& in) override;
  void share(std::int64_t session,
             const std::vector<content_row>& states) override;
  [[nodiscard]] std::vector<released>
  sweep(std::int64_t session, const std::vector<content_row>& needed,
        const std::vector<std::int64_t>& values) override;
  [[nodiscard]] std::vector<std::int64_t>
  values_of(std::int64_t session) override;

  [[nodiscard]] state load(const content_row& x, loaded* last) override;
  [[nodiscard]] std::optional<damage_kind> verify(const content_row& x,
                                                  verifier& last) override;

  void remember(const session_row& in, const state& x) override;
  void remember_copy(const session_row& from, const session_row& copy) override;
  void forget(std::int64_t session) override;
  void forget_all() override;

private:
  // -- messages ---------------------------------------------------------------

  /// Writes the new messages of a log, and prepares the session for its place.
  [[nodiscard]] log_place write(session_row& in, const ai::message_log& log,
                                const content_row* base);

  /// Returns the place of the longest beginning of a log that is stored
  /// already.
  [[nodiscard]] log_place find(const session_row& in,
                               const ai::message_log& log,
                               const content_row* base);

  /// Erases the messages that only the working state needs and that are not at
  /// `to`, before the session works on the messages there.
  void leave_messages(const session_row& in, log_place to);

  /// Returns the damage of the messages of a state, and continues the hash of
  /// `last` over them.
  [[nodiscard]] std::optional<damage_kind> verify(log_place x, verifier& last);

  // -- values -----------------------------------------------------------------

  /// Replaces one value of the working state.
  /// @param text  empty for no value.
  /// @param key   key of the value, which is updated.
  /// @param owned whether only the working state has the value; updated.
  /// @param base  key of a value that may be equal; 0 for none.
  void replace(std::int64_t session, const std::string& text, std::int64_t& key,
               bool& owned, std::int64_t base);

  /// Returns the key of a stored value with this text; 0 for none. Mends a
  /// value that is damaged.
  [[nodiscard]] std::int64_t
  find_value(const std::string& text, std::string& hash,
             std::initializer_list<std::int64_t> candidates);

  // -- sweeping ---------------------------------------------------------------

  /// Number of messages that are needed of each branch, the youngest first.
  using needs = std::map<std::int64_t, std::uint64_t, std::greater<>>;

  /// Adds to the needs of branches those of their ancestors.
  void add_ancestors(needs& x);

  [[nodiscard]] static needs needs_of(const std::vector<content_row>& states);

  void sweep_branches(std::int64_t session, needs& needed);

  content_tables& tables_;
  message_branches branches_;
  known_logs known_;
};

} // namespace tertulia
