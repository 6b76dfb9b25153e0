// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/part.hpp>
#include <tertulia/describe.hpp>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tertulia::ai {

/// Product of a conversation beside its messages: a file, a picture, a diagram.
///
/// `{"name":"…","parts":[…],"metadata":{…}}` in JSON; an empty name and empty
/// metadata are left out.
///
/// @threads a value.
/// @design  docs/genkit.md 003 §1.1 and 004 §1.1: `AgentArtifact` and
///          `SessionFlowArtifact`.
struct artifact {
  artifact() = default;

  artifact(std::string name, std::vector<part> parts,
           metadata_map metadata = {})
    : name(std::move(name)), parts(std::move(parts)),
      metadata(std::move(metadata)) {}

  /// Identifies the artifact within its session, such as `generated_code.go`.
  std::string name;

  std::vector<part> parts;
  metadata_map metadata;
};

BOOST_DESCRIBE_STRUCT(artifact, (), (name, parts, metadata))

} // namespace tertulia::ai

namespace tertulia {

template <>
inline constexpr auto omitted_when_empty<ai::artifact> = std::tuple{
  &ai::artifact::name, &ai::artifact::metadata};

} // namespace tertulia
