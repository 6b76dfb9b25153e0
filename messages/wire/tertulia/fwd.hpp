// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdint>

// Forward declarations only: cheap to include everywhere.

namespace tertulia {

enum class errc : std::uint8_t;

class payload;
class state;
class status_error;

struct action_list;
struct annotate_snapshot;
struct chunk_batch;
struct chunk_credit;
struct copy_session;
struct delete_session;
struct erased;
struct finished;
struct get_session;
struct get_snapshot;
struct input_credit;
struct label_snapshot;
struct list_sessions;
struct list_snapshots;
struct open;
struct opened;
struct prune_snapshots;
struct restore_snapshot;
struct save_session;
struct save_snapshot;
struct saved_snapshot;
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
struct title_session;
struct turn_end;
struct turn_input;
struct vacuum_store;
struct vacuumed;
struct verified_page;
struct verify_sessions;

} // namespace tertulia
