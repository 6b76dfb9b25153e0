// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/fwd.hpp>

#include <caf/atom.hpp>
#include <caf/type_id.hpp>

// The only registration block. The position of a noun determines its ID on the
// wire: append at the end once released.

CAF_BEGIN_TYPE_ID_BLOCK(tertulia_messages, caf::first_custom_type_id)

  // -- nouns ------------------------------------------------------------------

  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::acquire_lease_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::action_list))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::annotate_snapshot_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::chunk_batch))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::chunk_credit))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::copy_session_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::delete_session_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::erase_result))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::completion))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::get_session_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::get_snapshot_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::input_credit))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::iteration_end))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::label_snapshot_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::lease_grant))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::list_sessions_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::list_snapshots_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::open_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::open_result))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::payload))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::prune_snapshots_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::release_lease_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::restore_snapshot_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::save_session_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::save_snapshot_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::save_result))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::session_edit))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::session_info))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::session_page))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::session_summary))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::session_view))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::snapshot_outcome))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::snapshot_page))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::snapshot_record))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::snapshot_trigger))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::stored_session))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::stored_snapshot))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::title_session_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::turn_end))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::turn_input))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::turn_start))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::vacuum_store_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::vacuum_result))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::verification_page))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::verify_sessions_request))

  // -- verbs that CAF lacks: at most 10 of [a-z0-9_] --------------------------

  CAF_ADD_ATOM(tertulia_messages, tertulia, arm_atom, "arm")
  CAF_ADD_ATOM(tertulia_messages, tertulia, cancel_atom, "cancel")
  CAF_ADD_ATOM(tertulia_messages, tertulia, disarm_atom, "disarm")
  CAF_ADD_ATOM(tertulia_messages, tertulia, done_atom, "done")
  CAF_ADD_ATOM(tertulia_messages, tertulia, list_atom, "list")

CAF_END_TYPE_ID_BLOCK(tertulia_messages)
