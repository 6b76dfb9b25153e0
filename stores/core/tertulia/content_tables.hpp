// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store_rows.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tertulia {

/// Tables of branches, messages and values, over the engine of one store.
/// `written_contents` keeps states in them.
///
/// @errors  all functions throw `status_error`: `data_loss` for data that the
///          engine cannot read, and the codes of its other failures.
/// @threads one at a time.
/// @design  docs/stores.md#rows.
class content_tables {
public:
  content_tables() = default;
  content_tables(const content_tables&) = delete;
  content_tables& operator=(const content_tables&) = delete;
  virtual ~content_tables() = default;

  // -- branches ---------------------------------------------------------------

  [[nodiscard]] virtual std::optional<branch_row> find_branch(std::int64_t key)
    = 0;

  /// Returns the branches that a session has made, in any order.
  [[nodiscard]] virtual std::vector<branch_row> branches_of(std::int64_t owner)
    = 0;

  /// Adds a branch.
  /// @returns its key, which is greater than that of any branch there ever was,
  ///          and less than 2^32.
  [[nodiscard]] virtual std::int64_t add(const branch_row& x) = 0;

  /// Erases a branch, which does not have messages any more.
  virtual void erase(const branch_row& x) = 0;

  // -- messages ---------------------------------------------------------------

  /// Calls a function with the positions and the texts of those messages of a
  /// branch in a range of positions that exist, in order, until it returns
  /// false.
  virtual void for_each_message(
    std::int64_t branch, std::uint64_t first, std::uint64_t last,
    const std::function<bool(std::uint64_t, std::string_view)>& fn)
    = 0;

  /// Returns one more than the last position of a message in a branch; 0 if the
  /// branch does not have messages of its own.
  [[nodiscard]] virtual std::uint64_t end_of(std::int64_t branch) = 0;

  virtual void write_message(std::int64_t branch, std::uint64_t position,
                             std::string_view text)
    = 0;

  /// Erases the messages of a branch from a position on.
  virtual void erase_messages(std::int64_t branch, std::uint64_t first) = 0;

  // -- values -----------------------------------------------------------------

  /// Text of a custom value or of a list of artifacts, and the SHA-256 that it
  /// had when it was written, as 32 bytes.
  struct value_row {
    std::string text;
    std::string hash;
  };

  [[nodiscard]] virtual std::optional<value_row> find_value(std::int64_t key)
    = 0;

  /// Returns the keys of the values that a session has made.
  [[nodiscard]] virtual std::vector<std::int64_t> values_of(std::int64_t owner)
    = 0;

  /// Adds a value.
  /// @returns its key, at least 2^32.
  [[nodiscard]] virtual std::int64_t add(std::int64_t owner, const value_row& x)
    = 0;

  /// Writes the text of a value again, whose row is damaged.
  virtual void mend(std::int64_t key, const std::string& text) = 0;

  virtual void erase_value(std::int64_t key) = 0;

  // -- shares -----------------------------------------------------------------

  /// Returns the session that has made a branch or a value; 0 if it does not
  /// exist.
  [[nodiscard]] virtual std::int64_t owner_of(std::int64_t item) = 0;

  [[nodiscard]] virtual std::vector<share_row> shares_of(std::int64_t session)
    = 0;

  /// Returns the greatest length of the shares of an item; 0 if it is not
  /// shared.
  [[nodiscard]] virtual std::uint64_t shared_length(std::int64_t item) = 0;

  /// Writes a share, a new one or in place of the one of the same session.
  virtual void write(const share_row& x) = 0;

  virtual void erase(const share_row& x) = 0;
};

} // namespace tertulia
