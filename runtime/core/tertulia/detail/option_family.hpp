// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/json_traits.hpp>
#include <tertulia/nothing.hpp>

#include <concepts>

// Options come in families: those of a client that opens a connection, of a
// definition, of a generation, of a tool. An option in the wrong place does not
// compile, and the error message names the right place.

namespace tertulia {

template <class Init>
struct client_options;

template <class Context>
struct agent_options;

template <class T>
struct with_init;

template <class Callback>
struct with_snapshot_callback;

namespace ai {

struct generate_options;
struct tool_options;
struct with_custom_deltas;
struct with_output_messages;

template <class Custom>
struct with_state;

} // namespace ai

namespace detail {

template <class Option, class Options>
concept applies_to = requires(const Option& x, Options& to) {
  x.apply(to);
};

// Options that depend on the types of an action are recognized by name.

template <class Option>
concept client_family = applies_to<Option, client_options<nothing>> || is_a<
  Option, with_init> || is_a<Option, ai::with_state> || std::
  same_as<Option, ai::with_custom_deltas> || std::same_as<
    Option, ai::with_output_messages>;

template <class Option>
concept definition_family
  = applies_to<Option, agent_options<nothing>> || is_a<Option,
                                                       with_snapshot_callback>;

template <class Option>
concept generation_family = applies_to<Option, ai::generate_options>;

template <class Option>
concept tool_family = applies_to<Option, ai::tool_options>;

/// Family of the options that are accepted in one place.
template <class Options>
inline constexpr int family_of = 0;

template <class Init>
inline constexpr int family_of<client_options<Init>> = 1;

template <class Context>
inline constexpr int family_of<agent_options<Context>> = 2;

template <>
inline constexpr int family_of<ai::generate_options> = 3;

template <>
inline constexpr int family_of<ai::tool_options> = 4;

/// Fails to compile for an option that does not belong here.
template <class Option, int Here>
consteval void refuse_option() {
  constexpr auto client = client_family<Option>;
  constexpr auto definition = definition_family<Option>;
  constexpr auto generation = generation_family<Option>;
  constexpr auto tool = tool_family<Option>;
  static_assert(!(client && Here == 1) && !(definition && Here == 2),
                "the value or callback of this option does not fit the types "
                "of the action");
  static_assert(!client || Here == 1,
                "this option is one of a client: it belongs to stream_bidi, "
                "open, opening_for or run_action");
  static_assert(
    !definition || Here == 2,
    "this option is one of a definition: it belongs to "
    "define_agent, ai::define_chat_agent, ai::define_session_flow or "
    "ai::define_prompt_agent");
  static_assert(!generation || Here == 3,
                "this option is one of a generation: it belongs to "
                "ai::generate, ai::generate_stream or an ai::prompt");
  static_assert(!tool || Here == 4,
                "this option is one of a tool: it belongs to ai::define_tool");
  static_assert(client || definition || generation || tool,
                "this is not an option: it has no apply for what is defined, "
                "opened or generated here");
}

template <class Option, class Options>
void apply_option(const Option& x, Options& to) {
  if constexpr (applies_to<Option, Options>)
    x.apply(to);
  else
    refuse_option<Option, family_of<Options>>();
}

} // namespace detail

} // namespace tertulia
