// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>

#include <string>
#include <vector>

#include "command_environment.hpp"

namespace tertulia::tool {

/// Resolves the names of sessions and snapshots.
///
/// A session is named by its id, or by the shown form of an id that cannot be
/// typed (`a\x00b`). If several agents have a session with that id, the agent
/// must be given, too. A snapshot is named, in this order, by
/// `SESSION@SEQUENCE`; by `SESSION` for its head; by its id; by a prefix of 4
/// or more characters that only its id has.
///
/// A damaged item has no readable name, so any name may refer to it.
///
/// @errors   all functions throw failures: `not_found`; `data_loss` if the item
///           may be damaged instead; or a usage failure that lists the
///           candidates.
/// @lifetime must not outlive the tool.
class finder {
public:
  /// @param agent key of the agent; empty for any.
  finder(tool& t, std::string agent);

  [[nodiscard]] session_info session(const std::string& id);

  /// @param within session of the snapshot; empty for any.
  [[nodiscard]] snapshot_record snapshot(const std::string& name,
                                         const std::string& within = {});

  /// Returns all sessions with that id, or else with that shown form of an id.
  [[nodiscard]] std::vector<session_info> sessions(const std::string& id);

  /// Returns sessions whose ids begin with that prefix and are longer: the
  /// first 100 of each agent. Reads no other sessions.
  [[nodiscard]] std::vector<session_info>
  sessions_with_prefix(const std::string& prefix);

  /// Returns the given agent, or all agents that have a session, even a damaged
  /// one.
  [[nodiscard]] std::vector<std::string> agents();

private:
  [[nodiscard]] snapshot_record read(const snapshot_ref& x);

  /// Each function adds candidates for a name.
  void add_by_session(std::vector<snapshot_record>& to, const std::string& name,
                      const std::string& within);
  void add_by_id(std::vector<snapshot_record>& to, const std::string& id,
                 const std::string& within);
  void add_by_prefix(std::vector<snapshot_record>& to, const std::string& id,
                     const std::string& within);

  /// Throws if nothing was found and something is damaged. If something was
  /// found, prints a remark about the damage.
  void report_damages(bool is_found, const std::string& absence) const;

  /// Adds a record unless it is among the candidates already.
  static void add(std::vector<snapshot_record>& to, snapshot_record x);

  tool& tool_;
  std::string agent_;
  /// Damage of items that could not be read so far.
  std::vector<damage> damages_;
};

/// Options that select a session.
struct session_choice {
  std::string session;
  std::string agent;
};

/// Options that select a snapshot. Its session may be empty.
struct snapshot_choice : session_choice {
  std::string name;
};

/// Returns the chosen session or snapshot.
/// @errors throws those of `finder`.
[[nodiscard]] session_info find_session(tool& t, const session_choice& x);
[[nodiscard]] snapshot_record find_snapshot(tool& t, const snapshot_choice& x);

/// Returns a prefix of an id that is short enough to remember.
[[nodiscard]] std::string short_id(const snapshot_id& x);

/// Returns `app.memo version 2`, or `no type` for an empty type.
[[nodiscard]] std::string name_of(const stored_type& x);

/// Returns `session ID of AGENT`.
[[nodiscard]] std::string name_of(const session_info& x);

/// Returns the title of a session, or else its preview in quotation marks.
/// Empty if it has neither.
[[nodiscard]] std::string heading_of(const session_info& x);

/// Returns `SESSION@SEQUENCE`.
[[nodiscard]] std::string name_of(const snapshot_record& x);

} // namespace tertulia::tool
