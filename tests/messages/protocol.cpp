// SPDX-License-Identifier: BSD-3-Clause

// All nouns and verbs of the protocol.

#include <tertulia/descriptor.hpp>
#include <tertulia/schema.hpp>
#include <tertulia/session_protocol.hpp>
#include <tertulia/store.hpp>

#include <concepts>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/protocol_fixture.hpp"

using namespace std::literals;

namespace tertulia::test::protocol_tests {

namespace {

// -- the block of type IDs ----------------------------------------------------

using block = caf::id_block::tertulia_messages;

/// Calls `fn` with a null pointer to each type of the block. In CAF 0.17 these
/// are the nouns, because its atoms do not have an ID.
template <class Fn>
void for_each_noun(Fn fn) {
  [&]<std::size_t... Is>(std::index_sequence<Is...>) {
    (fn(static_cast<typename caf::type_by_id<block::begin + Is>::type*>(
       nullptr)),
     ...);
  }
  (std::make_index_sequence<block::end - block::begin>{});
}

// -- a sample of each noun ----------------------------------------------------

state talk() {
  return state::conversation(ai::message_log{{ai::user_text("tea?")}},
                             payload::of(article{"tea", 2}),
                             ai::artifact_list{std::vector{
                               ai::artifact{"plan", {ai::part::text("brew")}}}},
                             stored_type{"app.article", 2});
}

snapshot_record record() {
  snapshot_record result;
  result.agent = "/agent/chat";
  result.session = session_id{"s"};
  result.sequence = 1ull << 40;
  result.id = snapshot_id{"a"};
  result.state = state_id{"b"};
  result.type = stored_type{"app.article", 2};
  result.event = snapshot_event::invocation_end;
  result.inputs = 1ull << 40;
  result.created_at = caf::timestamp{1s};
  result.labels = {"approved"};
  result.note = "as we said";
  result.orphaned = true;
  return result;
}

std::tuple<session_edit, session_summary, session_view, snapshot_outcome,
           snapshot_trigger, iteration_end, answer_end, custom_change,
           turn_start>
session_samples() {
  session_view view{session_id{"s"}, talk(), 1ull << 40};
  view.turn = 3;
  view.last_snapshot = snapshot_id{"a"};
  view.inputs = 4;
  view.is_in_turn = true;
  view.turn_name = turn_id{"t"};
  view.past_turns.emplace_back(turn_id{"s"}, 3);
  session_summary summary;
  summary.last = view;
  summary.snapshots = {snapshot_id{"a"}, snapshot_id{"b"}};
  snapshot_outcome outcome{snapshot_id{"a"}, true};
  outcome.stored_inputs = 5;
  snapshot_trigger trigger{snapshot_event::tool_iteration_end, 3};
  trigger.finish_reason = ai::finish_reason::length;
  trigger.inputs = 1ull << 40;
  trigger.turn_name = turn_id{"t"};
  return {session_edit{session_verb::add_artifact,
                       payload::of(ai::artifact{"plan", {}}), 7},
          std::move(summary),
          std::move(view),
          std::move(outcome),
          std::move(trigger),
          iteration_end{7},
          answer_end{ai::finish_reason::blocked},
          custom_change{payload::of(std::string{"new"})},
          turn_start{talk().messages().to_vector()}};
}

auto store_samples() {
  const session_ref session_key{"/agent/chat", session_id{"s"}};
  const snapshot_ref snapshot{session_key, 1ull << 40};
  list_sessions_request sessions;
  sessions.agent = session_key.agent;
  sessions.label = "approved";
  sessions.updated_since = caf::timestamp{1s};
  sessions.after = session_key;
  sessions.limit = max_page;
  sessions.order = session_order::by_change;
  list_snapshots_request snapshots{session_key};
  snapshots.with_orphans = true;
  snapshots.detail = detail_level::state;
  snapshots.after = 3;
  snapshots.limit = 1;
  label_snapshot_request label{snapshot};
  label.add = {"approved"};
  label.remove = {"draft", "old"};
  prune_snapshots_request prune;
  prune.agent = session_key.agent;
  prune.session = session_key.id;
  prune.created_before = caf::timestamp{1s};
  prune.keep_newest = 1ull << 40;
  session_info info;
  info.agent = session_key.agent;
  info.id = session_key.id;
  info.updated_at = caf::timestamp{1s};
  info.records = 2;
  info.title = "Tea";
  info.preview = "tea?";
  info.messages = 3;
  info.bytes = 1ull << 40;
  info.inputs = 7;
  info.turn = turn_id{"t"};
  info.past_turns.emplace_back(turn_id{"s"}, 6);
  const std::vector<session_position> follows{
    {}, {4, state_id{"a"}, stored_type{"app.memo", 2}}};
  save_session_request save_session{session_key, talk(), 5, follows, 3};
  save_session.inputs = 4;
  save_session.turn = turn_id{"t"};
  save_snapshot_request save_snapshot{record(), talk(), append_rule::at_head,
                                      follows, 3};
  save_snapshot.turn = turn_id{"t"};
  const run_ref the_run{"/agent/chat", run_id{"r"}, session_id{"s"}};
  stored_run kept;
  kept.id = run_id{"r"};
  kept.agent = session_key.agent;
  kept.session = session_key.id;
  kept.status = run_status::failed;
  kept.snapshot = snapshot_id{"a"};
  kept.code = errc::out_of_range;
  kept.error = "as you say";
  kept.owner = "process 1";
  kept.beat = 10s;
  kept.began_at = kept.beat_at = kept.ended_at = caf::timestamp{1s};
  list_runs_request list_runs;
  list_runs.agent = session_key.agent;
  list_runs.session = session_key.id;
  list_runs.status = run_status::expired;
  list_runs.after = run_id{"q"};
  list_runs.limit = max_page;
  run_page run_list;
  run_list.runs = {kept, kept};
  run_list.more = true;
  verify_sessions_request verify;
  verify.agent = session_key.agent;
  verify.session = session_key.id;
  verify.after = session_key;
  verify.after_record = 1ull << 40;
  verify.limit = max_page;
  verification_page verified;
  verified.sessions = 1;
  verified.records = 1ull << 40;
  verified.damages = {damage{damage_kind::missing, session_key, 5,
                             state_id{"b"}, "state b is missing"},
                      damage{}};
  verified.last = session_key;
  verified.last_record = 3;
  verified.more = true;
  snapshot_page snapshot_list;
  snapshot_list.snapshots
    = {stored_snapshot{record(), talk()}, stored_snapshot{record()}};
  snapshot_list.more = true;
  session_page session_list;
  session_list.sessions = {info, info};
  session_list.more = true;
  stored_session session;
  session.info = info;
  session.content = talk();
  session.head = stored_snapshot{record(), talk()};
  return std::tuple{
    annotate_snapshot_request{snapshot, "as we said"},
    copy_session_request{session_key, {"/agent/b", session_id{"t"}}, 7},
    delete_session_request{session_key},
    erase_result{1ull << 40, 1, verified.damages},
    get_session_request{session_key, detail_level::record},
    get_snapshot_request{snapshot, detail_level::record},
    label,
    sessions,
    snapshots,
    prune,
    lease_grant{1ull << 40},
    restore_snapshot_request{snapshot, 3},
    save_session,
    save_snapshot,
    save_result{record(), true},
    info,
    session_list,
    snapshot_list,
    record(),
    session,
    stored_snapshot{record(), talk()},
    title_session_request{session_key, "Tea"},
    abort_run_request{the_run},
    get_run_request{the_run},
    list_runs,
    run_list,
    save_run_request{kept, 7s},
    kept,
    vacuum_store_request{},
    vacuum_result{1ull << 40, 1},
    verified,
    verify};
}

/// Returns a sample of each noun. A noun without a sample does not compile.
auto samples(const protocol& at) {
  const auto value = payload::of(article{"tea \"x\"", 2});
  open_options options;
  options.input_window = 7;
  options.chunk_window = 0;
  options.deadline = 5s;
  options.trace_parent = "00-1-2-01";
  options.disconnect = on_disconnect::keep;
  options.grace = 7s;
  options.resume_after = 1ull << 40;
  options.turn = turn_id{"t"};
  options.turn_begin = 1ull << 41;
  options.open_within = 9s;
  options.call = "1f";
  options.output_messages = 1ull << 42;
  attach_result position;
  position.run = run_id{"r"};
  position.reader = 3;
  position.next = 1ull << 40;
  position.turn = 5;
  position.inputs = 1ull << 33;
  position.taken = 7;
  position.is_stored = true;
  position.grace = 7s;
  position.is_in_turn = true;
  auto& attach = options.attach.emplace();
  attach.run = run_id{"r"};
  attach.after = 1ull << 40;
  attach.role = client_role::listener;
  attach.or_open = true;
  attach.back_as = 3;
  open_request opening{"/bidi-flow/shop", value, options, at.sink};
  opening.inputs = {value, payload::of(1)};
  opening.closes = true;
  opening.client_number = 1ull << 40;
  run_info run;
  run.id = run_id{"r"};
  run.key = "/bidi-flow/shop";
  run.session = session_id{"s"};
  run.status = run_status::aborted;
  run.is_in_turn = true;
  chunk_batch batch{1ull << 40, 2, payload::encoded("[1,2]"), 3};
  batch.reader = 6;
  chunk_batch last{3, 1, value, 1};
  last.reader = 7;
  descriptor info;
  info.key = "/bidi-flow/shop";
  info.input_schema = schema_of<article>();
  return std::tuple_cat(
    std::tuple{run_request{run_verb::abort, run_id{"r"}, "/bidi-flow/shop",
                           session_id{"s"}},
               run,
               acquire_lease_request{{"/agent/chat", session_id{"s"}},
                                     at.holder,
                                     "process 1",
                                     if_live::take_over},
               release_lease_request{at.holder, {"/agent/chat", session_id{}}},
               action_list{{info, descriptor{}}}, batch,
               chunk_credit{max_window, 4},
               completion{value, fail(errc::data_loss, "torn", R"({"at":3})"),
                          1ull << 40, 5, 8},
               input_credit{1, 9}, opening,
               open_result{at.connection, 7, session_id{"s"}, "1f",
                           snapshot_id{"a"}, position, turn_progress::over},
               value,
               turn_end{1ull << 40, last, snapshot_id{"a"},
                        ai::finish_reason::length, 1ull << 40},
               turn_input{value, 9, 1ull << 40, 3}},
    session_samples(), store_samples());
}

} // namespace

// -- nouns --------------------------------------------------------------------

TEST_F(protocol, no_noun_is_an_aggregate) {
  int count = 0;
  for_each_noun([&]<class T>(T*) {
    static_assert(!std::is_aggregate_v<T>);
    static_assert(std::is_default_constructible_v<T>);
    static_assert(std::is_copy_constructible_v<T>);
    static_assert(std::equality_comparable<T>);
    ++count;
  });
  EXPECT_EQ(count, 55);
}

TEST_F(protocol, every_noun_travels) {
  for_each_noun([&]<class T>(T*) {
    check_round_trip(T{});
    check_round_trip(std::get<T>(samples(*this)));
    EXPECT_EQ(std::get<T>(samples(*this)) == T{}, std::is_empty_v<T>);
  });
}

TEST_F(protocol, every_member_of_a_noun_counts_in_a_comparison) {
  for_each_noun([&]<class T>(T*) {
    if constexpr (described<T>) {
      const T empty;
      const auto sample = std::get<T>(samples(*this));
      detail::for_each_member<T>([&](auto d) {
        auto other = sample;
        other.*d.pointer = empty.*d.pointer;
        EXPECT_EQ(other == sample, empty.*d.pointer == sample.*d.pointer)
          << d.name;
      });
    }
  });
}

TEST_F(protocol, every_noun_can_be_printed) {
  for_each_noun([&]<class T>(T*) {
    // Described structs are printed as JSON, or member by member.
    const auto* start = described<T> && !std::derived_from<T, memberwise>
                          ? "{\""
                          : "tertulia::";
    EXPECT_TRUE(caf::deep_to_string(T{}).starts_with(start));
    const auto text = caf::deep_to_string(std::get<T>(samples(*this)));
    EXPECT_TRUE(text.starts_with(start)) << text;
    EXPECT_EQ(text == caf::deep_to_string(T{}), std::is_empty_v<T>);
  });
}

TEST_F(protocol, half_a_noun_is_an_error) {
  for_each_noun([&]<class T>(T*) {
    const auto bytes = save(std::get<T>(samples(*this)));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::vector<char> part(
        bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      T result;
      caf::binary_deserializer from{system, part};
      EXPECT_TRUE(from(result)) << size << " of " << bytes.size();
    }
  });
}

TEST_F(protocol, an_enumerator_without_a_name_is_an_error) {
  const auto bytes = save(answer_end{static_cast<ai::finish_reason>(99)});
  caf::binary_deserializer from{system, bytes};
  answer_end result;
  EXPECT_EQ(code_of(from(result)), errc::invalid_argument);
}

// -- verbs --------------------------------------------------------------------

TEST_F(protocol, verbs_are_legal_and_pairwise_distinct) {
  const caf::atom_value ours[]
    = {cancel_atom::value, done_atom::value, list_atom::value};
  const std::set<caf::atom_value> seen(std::begin(ours), std::end(ours));
  EXPECT_EQ(seen.size(), std::size(ours));
  for (auto verb : ours) {
    const auto text = caf::to_string(verb);
    EXPECT_GE(text.size(), 1u);
    EXPECT_LE(text.size(), 10u);
    EXPECT_EQ(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string::npos)
      << text << ": CAF makes blanks of what it cannot spell";
    EXPECT_EQ(caf::atom_from_string(text), verb) << text;
  }
  const caf::atom_value all_of_caf[]
    = {caf::add_atom::value,     caf::get_atom::value,   caf::put_atom::value,
       caf::delete_atom::value,  caf::ok_atom::value,    caf::close_atom::value,
       caf::open_atom::value,    caf::tick_atom::value,  caf::sys_atom::value,
       caf::publish_atom::value, caf::update_atom::value};
  for (auto theirs : all_of_caf)
    EXPECT_FALSE(seen.contains(theirs)) << caf::to_string(theirs);
}

} // namespace tertulia::test::protocol_tests
