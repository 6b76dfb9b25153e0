// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/atom.hpp>
#include <caf/type_id.hpp>

// The only registration block. The position of a noun determines its ID on the
// wire: append at the end once released.

namespace tertulia {

class payload;

struct abort_run_request;
struct acquire_lease_request;
struct action_list;
struct annotate_snapshot_request;
struct answer_end;
struct chunk_batch;
struct chunk_credit;
struct completion;
struct copy_session_request;
struct custom_change;
struct delete_session_request;
struct erase_result;
struct get_run_request;
struct get_session_request;
struct get_snapshot_request;
struct input_credit;
struct iteration_end;
struct label_snapshot_request;
struct lease_grant;
struct list_runs_request;
struct list_sessions_request;
struct list_snapshots_request;
struct open_request;
struct open_result;
struct prune_snapshots_request;
struct release_lease_request;
struct restore_snapshot_request;
struct run_info;
struct run_page;
struct run_request;
struct save_result;
struct save_run_request;
struct save_session_request;
struct save_snapshot_request;
struct session_edit;
struct session_info;
struct session_page;
struct session_summary;
struct session_view;
struct snapshot_outcome;
struct snapshot_page;
struct snapshot_record;
struct snapshot_trigger;
struct stored_run;
struct stored_session;
struct stored_snapshot;
struct title_session_request;
struct turn_end;
struct turn_input;
struct turn_start;
struct vacuum_result;
struct vacuum_store_request;
struct verification_page;
struct verify_sessions_request;

} // namespace tertulia

CAF_BEGIN_TYPE_ID_BLOCK(tertulia_messages, caf::first_custom_type_id)

  // -- nouns ------------------------------------------------------------------

  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::abort_run_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::acquire_lease_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::action_list))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::annotate_snapshot_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::answer_end))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::chunk_batch))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::chunk_credit))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::completion))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::copy_session_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::custom_change))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::delete_session_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::erase_result))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::get_run_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::get_session_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::get_snapshot_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::input_credit))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::iteration_end))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::label_snapshot_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::lease_grant))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::list_runs_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::list_sessions_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::list_snapshots_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::open_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::open_result))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::payload))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::prune_snapshots_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::release_lease_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::restore_snapshot_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::run_info))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::run_page))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::run_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::save_result))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::save_run_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::save_session_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::save_snapshot_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::session_edit))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::session_info))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::session_page))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::session_summary))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::session_view))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::snapshot_outcome))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::snapshot_page))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::snapshot_record))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::snapshot_trigger))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::stored_run))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::stored_session))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::stored_snapshot))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::title_session_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::turn_end))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::turn_input))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::turn_start))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::vacuum_result))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::vacuum_store_request))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::verification_page))
  CAF_ADD_TYPE_ID(tertulia_messages, (tertulia::verify_sessions_request))

  // -- verbs that CAF lacks: at most 10 of [a-z0-9_] --------------------------

  CAF_ADD_ATOM(tertulia_messages, tertulia, cancel_atom, "cancel")
  CAF_ADD_ATOM(tertulia_messages, tertulia, done_atom, "done")
  CAF_ADD_ATOM(tertulia_messages, tertulia, list_atom, "list")

CAF_END_TYPE_ID_BLOCK(tertulia_messages)
