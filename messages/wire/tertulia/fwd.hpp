// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdint>

// Forward declarations only: cheap to include everywhere.

namespace tertulia {

enum class errc : std::uint8_t;

class payload;
class state;
class status_error;

struct acquire_lease_request;
struct action_list;
struct annotate_snapshot_request;
struct chunk_batch;
struct chunk_credit;
struct copy_session_request;
struct delete_session_request;
struct descriptor;
struct erase_result;
struct completion;
struct get_session_request;
struct get_snapshot_request;
struct input_credit;
struct iteration_end;
struct label_snapshot_request;
struct lease_grant;
struct list_sessions_request;
struct list_snapshots_request;
struct open_request;
struct open_result;
struct prune_snapshots_request;
struct release_lease_request;
struct restore_snapshot_request;
struct save_session_request;
struct save_snapshot_request;
struct save_result;
struct session_edit;
struct session_info;
struct session_page;
struct session_summary;
struct session_view;
struct snapshot_outcome;
struct snapshot_page;
struct snapshot_record;
struct snapshot_trigger;
struct stored_session;
struct stored_snapshot;
struct title_session_request;
struct turn_end;
struct turn_input;
struct turn_start;
struct vacuum_store_request;
struct vacuum_result;
struct verification_page;
struct verify_sessions_request;

} // namespace tertulia
