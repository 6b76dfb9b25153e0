// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/type_ids.hpp>

#include <caf/make_message.hpp> // CAF 0.17: result.hpp needs it
#include <caf/replies_to.hpp>
#include <caf/result.hpp>
#include <caf/typed_actor.hpp>

#include <cstdint>

// The messages between actors. Any CAF actor can use this protocol, on this
// node or on another, without the facades of this library.
//
//   actor       spawned by       held by                 ends when
//   front desk  the runtime      the runtime             the runtime stops
//   connection  the front desk   the front desk, client  its completion is sent
//   chunk sink  the client       its connections         the client stops it
//   body actor  the connection   its connection          with its connection
//   session     the connection   the connection          with its connection
//   responder   the connection   its connection          with its connection
//   store       the user         its agents, sessions    no reference is left
//
// Clients monitor their connections, connections monitor their clients; there
// are no links. Inputs and chunks are limited by credit: each side starts with
// the credit that was agreed at the opening and spends one for each input,
// chunk or end of a turn.

namespace tertulia {

namespace detail {

/// Lets handles be written as function types, as in CAF 0.18.
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
  caf::result<open_result>(open_request),  // the connection itself replies; not_found,
                                           // invalid_argument, resource_exhausted
  caf::result<run_info>(run_request),      // inspects or aborts a kept run; not_found
  caf::result<run_page>(list_runs_request),// kept runs of the action in the request; not_found
  caf::result<action_list>(list_atom),     // all actions that can be opened here
  caf::result<caf::strong_actor_ptr>(      // store of a conversation, or of all if the key
    caf::get_atom, std::string)>;          // is empty; not_found, failed_precondition,
                                           // permission_denied if stores are not published

// -- client -> connection -------------------------------------------------------

/// Handle of one live conversation, for its client. A body that is a plain actor
/// implements it as well; its connection acts as the client.
using connection_actor = protocol<
  caf::result<void>(turn_input),       // costs one input credit; overrun: resource_exhausted
  caf::result<void>(chunk_credit),     // room for n more chunks
  caf::result<void>(caf::close_atom),  // no further inputs; idempotent
  caf::result<void>(cancel_atom)>;     // unwinds the body; idempotent

// -- clients that come and go -> connection of a kept run ------------------------

/// Connection of a run that outlives its client. Converts to a `connection_actor`.
/// Its clients are numbered: what a client sends that another one has replaced is
/// ignored. A client that leaves hears a completion message.
using run_actor = connection_actor::extend<
  caf::replies_to<open_request>::with<open_result>,  // attaches; out_of_range, aborted
  caf::replies_to<run_request>::with<run_info>>;

// -- connection -> client -------------------------------------------------------

/// Receiver of the output of a conversation. Implemented by actor clients, by
/// our facades and by tests. One sink can serve many connections and
/// distinguishes them by the sender.
using chunk_sink = protocol<
  caf::result<void>(chunk_batch),   // costs one chunk credit per chunk
  caf::result<void>(input_credit),  // room for n more inputs
  caf::result<void>(turn_end),      // costs one chunk credit, and one per chunk that it carries
  caf::result<void>(completion)>;   // free; completion message: an output or an error

// -- connection -> responder ----------------------------------------------------

/// Decides what an event of a conversation entails. The session answers in its
/// place, so that the connection gets the outcome in one message.
using responder_actor = protocol<
  caf::result<snapshot_outcome>(snapshot_trigger)>;  // errors: as those of the session

// -- flows that a body has called -> connection of the conversation -------------

/// Connection of a conversation, which alone counts its turns and notifies its
/// client.
using turn_owner = protocol<
  caf::result<snapshot_outcome>(iteration_end),       // waits until the client has credit for the notice
  caf::result<void>(cancel_atom, std::uint64_t),      // withdraws the request of this number, of this sender
  caf::result<void>(answer_end)>;                     // becomes the finish reason of the turn

// -- session -> connection ------------------------------------------------------

/// Connection whose client wants to know the changes of the custom value.
using custom_listener = protocol<
  caf::result<void>(custom_change)>;

// -- connection, responder, tools -> session ------------------------------------

/// Working state of one conversation. Only this actor can change it.
using session_actor = protocol<
  caf::result<session_view>(caf::open_atom),        // once, first: load or create; not_found, data_loss,
                                                    // failed_precondition if another invocation is live
  caf::result<session_view>(caf::get_atom),
  caf::result<session_view>(session_edit),          // aborted
  caf::result<snapshot_outcome>(snapshot_trigger),  // unavailable or the store's own code
  caf::result<void>(turn_start),                    // adds the messages of the client's input
  caf::result<void>(turn_end),                      // a turn without a snapshot is over
  caf::result<session_view>(caf::reset_atom),       // without a store: back to the end of the last turn
  caf::result<session_summary>(list_atom),          // result of the invocation so far
  caf::result<session_summary>(done_atom, bool)>;   // final result, then the session ends; if true, only if a
                                                    // snapshot has its state

// -- store -> holder of a lease -------------------------------------------------

/// Holder of the lease of a session, such as a connection.
using lease_holder = protocol<
  caf::result<void>(cancel_atom, caf::error)>;  // another one takes over: end, then release the lease

// -- session -> store -----------------------------------------------------------

/// Store of states and records. Every change is one request, decided by the
/// store. If one id can mean several snapshots: failed_precondition. A change
/// without a fence while the session has a lease: failed_precondition.
///
/// Common rules of all stores, which the contract checks:
/// - Refused with invalid_argument before anything is created or changed: an
///   empty or unprintable name of a session, an empty snapshot id, a content
///   without JSON, a state id that is not its hash, an unknown event.
/// - Errors about a session or a record carry details in JSON: `agent` and
///   `session`, and what differs, such as `head`, `fence` or `owner`.
///   An ambiguous id names up to three sessions in its message.
/// - Sequence numbers end at 2^63-1: a greater one is invalid_argument, one
///   more record in such a session resource_exhausted. Turn indexes and times
///   use all 64 bits.
/// - A limit of a page is clamped to 1 .. max_page; a page says whether more
///   follows. A damaged item is left out of a list and named; a read of it is
///   data_loss, with another message if it is missing.
using snapshot_store = protocol<
  caf::result<lease_grant>(acquire_lease_request),         // failed_precondition: names session and owner;
                                                           // aborted: taken over while it waited;
                                                           // resource_exhausted: too many wait
  caf::result<bool>(release_lease_request),                // false: there was none; idempotent
  caf::result<save_result>(save_snapshot_request),         // not_found: the parent; aborted: changed by
                                                           // another writer, or another fence was granted;
                                                           // no-op if the parent has this state
  caf::result<stored_snapshot>(get_snapshot_request),      // not_found; data_loss
  caf::result<stored_snapshot>(restore_snapshot_request),  // moves the head; not_found; data_loss; aborted: the fence
  caf::result<snapshot_page>(list_snapshots_request),      // empty for an unknown session
  caf::result<stored_session>(get_session_request),        // not_found; data_loss
  caf::result<session_info>(save_session_request),         // aborted: changed by another writer, or the fence
  caf::result<stored_run>(save_run_request),               // the run as it is then; no-op if it is over
  caf::result<stored_run>(abort_run_request),              // as it was before; no-op if it is over; not_found
  caf::result<stored_run>(get_run_request)>;               // not_found; data_loss

// -- management tools -> store --------------------------------------------------

/// A store with management requests. Converts to a `snapshot_store`.
using managed_store = snapshot_store::extend<
  caf::replies_to<list_sessions_request>::with<session_page>,
  caf::replies_to<label_snapshot_request>::with<snapshot_record>,      // not_found
  caf::replies_to<delete_session_request>::with<erase_result>,         // not_found
  caf::replies_to<prune_snapshots_request>::with<erase_result>,
  caf::replies_to<copy_session_request>::with<session_info>,           // not_found; already_exists
  caf::replies_to<annotate_snapshot_request>::with<snapshot_record>,   // not_found
  caf::replies_to<title_session_request>::with<session_info>,          // not_found
  caf::replies_to<list_runs_request>::with<run_page>,                  // not_found: the run after which it begins
  caf::replies_to<vacuum_store_request>::with<vacuum_result>,
  caf::replies_to<verify_sessions_request>::with<verification_page>>;  // damage is a reply, not an error

// clang-format on

} // namespace tertulia
