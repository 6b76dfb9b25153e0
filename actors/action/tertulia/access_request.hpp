// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <boost/describe/enum.hpp>

namespace tertulia {

/// Kind of an access to an action.
enum class access_verb : std::uint8_t {
  see,     ///< Lists or describes the action.
  open,    ///< Opens a run.
  attach,  ///< Reads a kept run, or sends to it.
  inspect, ///< Asks for the status of a run.
  abort,   ///< Ends any run; a talker may also cancel the one it talks to.
  measure, ///< Reads the metrics of all actions.
  list,    ///< Lists the kept runs of the caller.
};

BOOST_DESCRIBE_ENUM(access_verb, see, open, attach, inspect, abort, measure,
                    list)

/// Access of a caller to an action, on which `authorize` decides: that of a
/// server, or that of a published runtime.
struct access_request {
  /// Name of the caller; empty without tokens. The caller of another node has
  /// the name that the node gives it.
  std::string caller;
  access_verb verb = access_verb::see;
  std::string key;     ///< of the action, which is exposed; empty for `measure`
  std::string run;     ///< may be empty
  std::string session; ///< with the name of its owner; may be empty
};

/// Function that decides on an access, called on any thread, also on several at
/// once.
using access_rule = std::function<bool(const access_request&)>;

namespace detail {

/// Returns whether a rule allows an access. A rule that throws does not;
/// without a rule, every access is allowed.
[[nodiscard]] bool allows(const access_rule& rule,
                          const access_request& x) noexcept;

} // namespace detail

} // namespace tertulia
