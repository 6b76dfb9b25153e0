// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>

#include <string>
#include <vector>

#include "tool.hpp"

namespace tertulia::tool {

/// Finds what people name.
///
/// A session is named by its id, or by what is shown of one that cannot be
/// typed (`a\x00b`); if several agents have one of that id, by the agent, too.
/// A snapshot is named, in this order, by `SESSION@SEQUENCE`; by `SESSION` for
/// its head; by its id; by 4 or more characters that its id alone begins with.
///
/// What is damaged has no name that can be read: it may be what was meant.
///
/// @errors   all throw failures: `not_found`; `data_loss` if it may be damaged
///           instead; or a failure of usage that lists what could be meant.
/// @lifetime within that of the tool.
class finder {
public:
  /// @param agent key of the agent that is meant; empty for any.
  finder(tool& t, std::string agent);

  [[nodiscard]] session_info session(const std::string& id);

  /// @param within the session that is meant; empty for any.
  [[nodiscard]] snapshot_record snapshot(const std::string& name,
                                         const std::string& within = {});

private:
  /// The agents that are meant, with a session each at least, be it damaged.
  [[nodiscard]] std::vector<std::string> agents();

  /// All sessions of that id.
  [[nodiscard]] std::vector<session_info> sessions(const std::string& id);

  /// Adds what a name could mean.
  void add_of_session(std::vector<snapshot_record>& to, const std::string& name,
                      const std::string& within);
  void add_of_id(std::vector<snapshot_record>& to, const std::string& id,
                 const std::string& within);
  void add_of_prefix(std::vector<snapshot_record>& to, const std::string& id,
                     const std::string& within);

  /// Throws if nothing was found that can be read, and else remarks what could
  /// not be looked at.
  void tell_damages(bool is_found, const std::string& what) const;

  /// Adds a record unless the name means it already.
  static void add(std::vector<snapshot_record>& to, snapshot_record x);

  tool& tool_;
  std::string agent_;
  /// What could not be looked at so far.
  std::vector<damage> damages_;
};

/// Returns the beginning of an id that people can remember for a minute.
[[nodiscard]] std::string short_id(const snapshot_id& x);

/// Returns `app.memo version 2`, or `no type` for what says nothing.
[[nodiscard]] std::string name_of(const stored_type& x);

/// Returns `SESSION@SEQUENCE`.
[[nodiscard]] std::string name_of(const snapshot_record& x);

} // namespace tertulia::tool
