// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/schema_builder.hpp>

#include <memory>
#include <string>

namespace tertulia {

struct descriptor;

namespace detail {

/// Types of an action, by their schemas.
struct action_schemas {
  schema_source* init;
  schema_source* input;
  schema_source* output;
  schema_source* stream;
};

template <class Init, class In, class Out, class Stream>
inline constexpr action_schemas schemas_of{add_schema<Init>, add_schema<In>,
                                           add_schema<Out>, add_schema<Stream>};

/// Returns the descriptor of an action of this kind and name.
std::shared_ptr<const descriptor>
make_descriptor(std::string kind, std::string name, std::string description,
                const action_schemas& schemas);

/// Returns the descriptor for an action that is not registered.
std::shared_ptr<const descriptor> without_key(const descriptor& x);

} // namespace detail

} // namespace tertulia
