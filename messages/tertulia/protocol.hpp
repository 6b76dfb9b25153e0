// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/fwd.hpp>
#include <tertulia/type_ids.hpp>

#include <caf/make_message.hpp> // CAF 0.17: result.hpp needs it
#include <caf/replies_to.hpp>
#include <caf/result.hpp>
#include <caf/typed_actor.hpp>

#include <cstdint>

// Who may say what to whom. Any CAF actor can speak this, on this node or on
// another, without the facades of this library.
//
//   actor       spawned by       held by                 ends when
//   front desk  the runtime      the runtime             the runtime stops
//   connection  the front desk   the front desk, client  its last word is said
//   chunk sink  the client       its connections         the client says so
//   body actor  the connection   its connection          with its connection
//
// Clients monitor their connections, connections monitor their clients; nobody
// links. What a side may send is counted: it starts with the credit that was
// agreed at the opening and spends one for each input or chunk.

namespace tertulia {

namespace detail {

/// Lets handles be written as functions, which is what CAF 0.18 does.
template <class Signature>
struct clause;

template <class Reply, class... Parts>
struct clause<caf::result<Reply>(Parts...)> {
  using type = typename caf::replies_to<Parts...>::template with<Reply>;
};

} // namespace detail

template <class... Signatures>
using protocol = caf::typed_actor<typename detail::clause<Signatures>::type...>;

// clang-format off

// -- client -> front desk -------------------------------------------------------

/// Opens connections to the actions that are registered with one runtime.
using front_desk_actor = protocol<
  caf::result<opened>(open),              // the connection itself replies; not_found,
                                          // invalid_argument, resource_exhausted
  caf::result<action_list>(list_atom)>;   // what can be opened here

// -- client -> connection -------------------------------------------------------

/// One live conversation as its client sees it. Also spoken by a body that is a
/// plain actor, to which its connection is the client.
using connection_actor = protocol<
  caf::result<void>(turn_input),          // costs one input credit; overrun: resource_exhausted
  caf::result<void>(chunk_credit),        // room for n more chunks
  caf::result<void>(caf::close_atom),     // no further inputs; idempotent
  caf::result<void>(cancel_atom)>;        // unwinds the body; idempotent

// -- connection -> client -------------------------------------------------------

/// Hears what a conversation says. Implemented by actor clients, by our facades
/// and by tests; one sink can serve many connections and tells them apart by the
/// sender.
using chunk_sink = protocol<
  caf::result<void>(chunk_batch),         // costs one chunk credit a chunk
  caf::result<void>(input_credit),        // room for n more inputs
  caf::result<void>(turn_end),            // free; after every chunk of its turn
  caf::result<void>(finished)>;           // free; the last word: an output or an error

// clang-format on

} // namespace tertulia
