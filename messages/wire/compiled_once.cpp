// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/descriptor.hpp>
#include <tertulia/detail/compiled_once.hpp>
#include <tertulia/open.hpp>
#include <tertulia/payload.hpp>
#include <tertulia/run.hpp>
#include <tertulia/session_protocol.hpp>
#include <tertulia/snapshot.hpp>
#include <tertulia/store/leases.hpp>
#include <tertulia/store/runs.hpp>
#include <tertulia/store/sessions.hpp>
#include <tertulia/store/snapshots.hpp>
#include <tertulia/store/upkeep.hpp>
#include <tertulia/store/verification.hpp>
#include <tertulia/turn.hpp>

TERTULIA_COMPILE(tertulia::abort_run_request)
TERTULIA_COMPILE(tertulia::acquire_lease_request)
TERTULIA_COMPILE(tertulia::action_list)
TERTULIA_COMPILE(tertulia::annotate_snapshot_request)
TERTULIA_COMPILE(tertulia::answer_end)
TERTULIA_COMPILE(tertulia::chunk_batch)
TERTULIA_COMPILE(tertulia::chunk_credit)
TERTULIA_COMPILE(tertulia::completion)
TERTULIA_COMPILE(tertulia::copy_session_request)
TERTULIA_COMPILE(tertulia::custom_change)
TERTULIA_COMPILE(tertulia::delete_session_request)
TERTULIA_COMPILE(tertulia::erase_result)
TERTULIA_COMPILE(tertulia::get_run_request)
TERTULIA_COMPILE(tertulia::get_session_request)
TERTULIA_COMPILE(tertulia::get_snapshot_request)
TERTULIA_COMPILE(tertulia::input_credit)
TERTULIA_COMPILE(tertulia::iteration_end)
TERTULIA_COMPILE(tertulia::label_snapshot_request)
TERTULIA_COMPILE(tertulia::lease_grant)
TERTULIA_COMPILE(tertulia::list_runs_request)
TERTULIA_COMPILE(tertulia::list_sessions_request)
TERTULIA_COMPILE(tertulia::list_snapshots_request)
TERTULIA_COMPILE(tertulia::open_request)
TERTULIA_COMPILE(tertulia::open_result)
TERTULIA_COMPILE(tertulia::payload)
TERTULIA_COMPILE(tertulia::prune_snapshots_request)
TERTULIA_COMPILE(tertulia::release_lease_request)
TERTULIA_COMPILE(tertulia::restore_snapshot_request)
TERTULIA_COMPILE(tertulia::run_info)
TERTULIA_COMPILE(tertulia::run_page)
TERTULIA_COMPILE(tertulia::run_request)
TERTULIA_COMPILE(tertulia::save_result)
TERTULIA_COMPILE(tertulia::save_run_request)
TERTULIA_COMPILE(tertulia::save_session_request)
TERTULIA_COMPILE(tertulia::save_snapshot_request)
TERTULIA_COMPILE(tertulia::session_edit)
TERTULIA_COMPILE(tertulia::session_info)
TERTULIA_COMPILE(tertulia::session_page)
TERTULIA_COMPILE(tertulia::session_summary)
TERTULIA_COMPILE(tertulia::session_view)
TERTULIA_COMPILE(tertulia::snapshot_outcome)
TERTULIA_COMPILE(tertulia::snapshot_page)
TERTULIA_COMPILE(tertulia::snapshot_record)
TERTULIA_COMPILE(tertulia::snapshot_trigger)
TERTULIA_COMPILE(tertulia::stored_run)
TERTULIA_COMPILE(tertulia::stored_session)
TERTULIA_COMPILE(tertulia::stored_snapshot)
TERTULIA_COMPILE(tertulia::title_session_request)
TERTULIA_COMPILE(tertulia::turn_end)
TERTULIA_COMPILE(tertulia::turn_input)
TERTULIA_COMPILE(tertulia::turn_start)
TERTULIA_COMPILE(tertulia::vacuum_result)
TERTULIA_COMPILE(tertulia::vacuum_store_request)
TERTULIA_COMPILE(tertulia::verification_page)
TERTULIA_COMPILE(tertulia::verify_sessions_request)
