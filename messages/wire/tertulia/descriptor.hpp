// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/compiled_once.hpp>
#include <tertulia/inspect.hpp>
#include <tertulia/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tertulia {

/// Description of an action for people and programs: its name, and the schemas
/// of its inputs and outputs. JSON member names: docs/genkit.md 001 §4.2.
///
/// @threads a value.
struct descriptor { // NOLINT(bugprone-exception-escape): moving JSON asserts
  /// Address of the action in its registry, e.g. `/bidi-flow/echo`; empty for
  /// an action that is not registered.
  std::string key;
  /// `bidi-action`, `bidi-flow`, …: the first part of the key.
  std::string kind;
  /// Name given at the definition of the action: the second part of the key.
  std::string name;
  /// For people; may be empty.
  std::string description;
  /// JSON Schemas (draft 2020-12) of one input, the output, one chunk and the
  /// initialization data.
  json input_schema;
  json output_schema;
  json stream_schema;
  json init_schema;
};

BOOST_DESCRIBE_STRUCT(descriptor, (),
                      (key, kind, name, description, input_schema,
                       output_schema, stream_schema, init_schema))

/// Front desk to client: all actions that can be opened, sorted by key.
struct action_list : memberwise {
  action_list() = default;
  explicit action_list(std::vector<descriptor> actions)
    : actions(std::move(actions)) {}

  std::vector<descriptor> actions;
};

BOOST_DESCRIBE_STRUCT(action_list, (), (actions))

} // namespace tertulia

TERTULIA_COMPILED_ONCE(tertulia::action_list)
