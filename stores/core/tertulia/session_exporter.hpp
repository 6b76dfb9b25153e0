// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/protocol.hpp>
#include <tertulia/store.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace tertulia {

/// Export of a session in steps, for a program that asks the store by itself
/// and writes the text where it likes: `export_session` for a coroutine or an
/// actor.
///
/// ```
/// session_exporter steps{session};
/// write(steps.begin(ask(steps.first())));
/// while (!steps.has_all())
///   write(steps.add(ask(steps.next())));
/// write(steps.end(ask(steps.last())));
/// ```
///
/// Needs memory for a few states, however many records there are. A text whose
/// end is missing is not a valid session file, so an error in the middle cannot
/// be mistaken for an export.
///
/// @errors  as `export_session`, of `begin`, `add` and `end`.
/// @threads one at a time.
/// @design  docs/stores.md#export-and-import.
class session_exporter {
public:
  explicit session_exporter(session_ref session);

  session_exporter(const session_exporter&) = delete;
  session_exporter& operator=(const session_exporter&) = delete;

  ~session_exporter();

  /// Returns the first request.
  [[nodiscard]] get_session_request first() const;

  /// Takes its answer, and returns the beginning of the text.
  std::string begin(const stored_session& x);

  /// Returns whether all records are written.
  [[nodiscard]] bool has_all() const noexcept;

  /// Returns the request for the next records.
  [[nodiscard]] const list_snapshots_request& next() const noexcept;

  /// Takes its answer, and returns the text of these records.
  std::string add(snapshot_page x);

  /// Returns the last request.
  [[nodiscard]] get_session_request last() const;

  /// Takes its answer, and returns the end of the text.
  std::string end(const stored_session& x);

  /// Returns the number of records that are written, and that of all.
  [[nodiscard]] std::uint64_t done() const noexcept;
  [[nodiscard]] std::uint64_t total() const noexcept;

private:
  struct progress;

  std::unique_ptr<progress> progress_;
};

} // namespace tertulia
