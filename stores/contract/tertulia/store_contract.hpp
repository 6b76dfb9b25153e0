// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store_contract/copy_cases.hpp>
#include <tertulia/store_contract/label_cases.hpp>
#include <tertulia/store_contract/lease_cases.hpp>
#include <tertulia/store_contract/model_cases.hpp>
#include <tertulia/store_contract/reading_cases.hpp>
#include <tertulia/store_contract/run_cases.hpp>
#include <tertulia/store_contract/saving_cases.hpp>
#include <tertulia/store_contract/session_cases.hpp>
#include <tertulia/store_contract/suite.hpp>
#include <tertulia/store_contract/turn_cases.hpp>
#include <tertulia/store_contract/upkeep_cases.hpp>
#include <tertulia/store_contract/verification_cases.hpp>

#include <gtest/gtest.h>

// Test suite for authors of stores: the contract of every store. It uses only
// the store protocol. The test of a store looks like this:
//
//   #include <tertulia/store_contract.hpp>
//
//   struct my_store_factory {
//     auto open(caf::actor_system& system) { return spawn_my_store(system); }
//   };
//
//   namespace tertulia {
//   INSTANTIATE_TYPED_TEST_SUITE_P(my_store, store_contract, my_store_factory);
//   }
//
// It is linked with tertulia::store_contract, GoogleTest and rapidcheck. Each
// test creates a factory, which opens an empty store when it is first called.
// The factory outlives the actor system, so it holds files rather than actors.
// It declares the optional capabilities of the store:
//
//   - `open` returns a managed_store: sessions are listed, titled, copied,
//     pruned, deleted and verified, snapshots are labelled and annotated, and
//     the store is vacuumed;
//   - static constexpr bool durable = true: a store that is opened again, after
//     the first one has ended, has the data of the first one;
//   - static void configure(caf::actor_system_config&): prepares the actor
//     system, for example for a store on another node;
//   - void corrupt(const state_id&): changes the stored data of a state in the
//     open store; void lose(const state_id&): removes it.

namespace tertulia {

REGISTER_TYPED_TEST_SUITE_P(
  store_contract, the_first_record_is_a_root, a_record_follows_its_parent,
  a_state_that_comes_back_is_recorded_again,
  an_id_means_the_last_active_record_that_has_it,
  an_id_without_active_records_means_its_last_one,
  saving_what_the_parent_has_changes_nothing,
  the_same_text_of_another_version_is_another_state,
  what_a_session_works_on_has_a_version,
  versions_of_a_conversation_go_on_from_each_other,
  who_saves_behind_a_head_that_has_moved_is_told,
  a_branch_orphans_what_it_leaves, a_record_can_be_saved_as_it_was,
  a_parent_that_is_not_there_is_not_found, a_state_with_another_id_is_refused,
  what_has_no_json_is_refused, numbers_that_mean_nothing_are_refused,
  empty_names_are_refused, names_that_cannot_be_shown_are_refused,
  what_was_saved_is_returned, logs_that_grow_from_a_state_leave_it_alone,
  a_record_alone_comes_without_its_state, a_corrupt_state_is_data_loss,
  a_list_names_what_is_corrupt_once, a_missing_state_is_another_data_loss,
  an_id_in_one_session_needs_no_session,
  an_id_in_several_sessions_needs_the_session, what_is_not_there_is_not_found,
  an_unknown_session_has_no_snapshots, pages_show_everything_once,
  a_restore_moves_the_head_and_what_follows_it,
  an_orphan_is_recovered_by_restoring_it,
  two_restores_in_a_row_end_at_the_second, a_session_lives_without_snapshots,
  what_a_session_works_on_is_not_its_head,
  a_change_that_follows_another_one_is_aborted, a_session_knows_when_it_changed,
  sessions_are_listed_in_pages, sessions_are_listed_by_change,
  sessions_are_listed_with_what_they_are_about, sessions_have_titles,
  a_session_counts_its_inputs_and_names_its_turn,
  a_session_knows_its_last_named_turns, a_branch_has_the_turns_of_its_parent,
  a_run_begins_beats_and_ends, a_run_learns_that_it_was_aborted,
  a_run_without_a_heartbeat_has_expired, runs_are_listed_from_the_last_one,
  runs_of_a_caller_are_listed_alone, runs_that_are_over_are_erased_in_time,
  runs_that_cannot_be_are_refused, a_run_reserves_the_id_of_its_last_snapshot,
  sessions_are_found_by_time_and_label, labels_are_ordered_and_distinct,
  a_snapshot_can_be_saved_with_labels, labels_have_limits,
  a_snapshot_has_a_note, vacuuming_changes_nothing_that_is_kept,
  deleting_a_session_leaves_the_others_alone, pruning_keeps_heads_and_labels,
  versions_of_a_state_go_one_by_one, pruning_minds_age_number_and_session,
  pruning_and_copying_read_no_states, a_copy_is_what_its_origin_was,
  a_copy_up_to_a_record_has_its_ancestors,
  a_copy_and_its_origin_go_their_own_ways,
  a_copy_keeps_a_message_that_its_origin_replaces,
  a_copy_needs_an_origin_and_a_name_of_its_own, everything_is_verified_once,
  one_agent_or_one_session_is_verified,
  verification_goes_on_where_its_place_is_gone,
  verification_tells_corrupt_from_missing, a_lease_has_one_holder,
  a_change_with_another_fence_is_aborted, a_fence_ends_with_its_lease,
  without_a_lease_only_branches_are_added, a_take_over_cancels_the_holder,
  take_overs_follow_each_other, a_lease_ends_with_its_holder,
  fences_grow_for_ever, a_lease_needs_a_session_and_a_holder,
  writers_never_overwrite_each_other, a_durable_store_knows_everything_again,
  does_what_the_model_does, does_what_the_model_does_for_one_session);

} // namespace tertulia

#undef TERTULIA_NEEDS_MANAGED_STORE
