// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/open.hpp>

#include <memory>
#include <string>
#include <utility>

namespace tertulia::detail {

/// Names that a client hears from its run. They take no memory until there is
/// one: a bidi flow that is neither kept nor traced has none.
///
/// @threads not thread-safe: the owner serialises.
class run_names {
public:
  /// Takes the names in the answer to an opening.
  void start(const open_result& x) {
    if (names_ || x.attached.run || x.session || !x.trace_id.empty()
        || x.snapshot)
      made_names() = {x.attached.run, x.session, x.trace_id, x.snapshot};
  }

  /// Returns the run; empty if it is not kept.
  [[nodiscard]] const run_id& run() const noexcept {
    return all().run;
  }

  void set_run(run_id x) {
    if (names_ || x)
      made_names().run = std::move(x);
  }

  [[nodiscard]] const session_id& session() const noexcept {
    return all().session;
  }

  [[nodiscard]] const std::string& trace_id() const noexcept {
    return all().trace_id;
  }

  [[nodiscard]] const snapshot_id& last_snapshot() const noexcept {
    return all().last_snapshot;
  }

  void set_last_snapshot(snapshot_id x) {
    if (names_ || x)
      made_names().last_snapshot = std::move(x);
  }

private:
  struct names {
    run_id run;
    session_id session;
    std::string trace_id;
    snapshot_id last_snapshot;
  };

  [[nodiscard]] const names& all() const noexcept {
    static const names none;
    return names_ ? *names_ : none;
  }

  /// Returns the names, which the first call makes.
  names& made_names() {
    if (!names_)
      names_ = std::make_unique<names>();
    return *names_;
  }

  std::unique_ptr<names> names_;
};

} // namespace tertulia::detail
