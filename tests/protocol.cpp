// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/open.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/session_protocol.hpp>
#include <tertulia/store.hpp>
#include <tertulia/turn.hpp>

#include <caf/all.hpp>

#include <array>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "support/threaded.hpp"

using namespace std::literals;

namespace tertulia::test {

namespace {

// -- the block of type IDs ----------------------------------------------------

using block = caf::id_block::tertulia_messages;

/// Calls `fn` with a null pointer to each type of the block: in CAF 0.17 the
/// nouns, for its atoms have no ID.
template <class Fn>
void for_each_noun(Fn fn) {
  [&]<std::size_t... Is>(std::index_sequence<Is...>) {
    (fn(static_cast<typename caf::type_by_id<block::begin + Is>::type*>(
       nullptr)),
     ...);
  }
  (std::make_index_sequence<block::end - block::begin>{});
}

struct article {
  std::string name;
  int pieces = 0;

  friend bool operator==(const article&, const article&) = default;
};
BOOST_DESCRIBE_STRUCT(article, (), (name, pieces))

struct label {
  std::string name;

  friend bool operator==(const label&, const label&) = default;
};
BOOST_DESCRIBE_STRUCT(label, (), (name))

// -- a sample of each noun
// -----------------------------------------------------

state talk() {
  return state::conversation(
    ai::message_log{{ai::user_text("tea?")}}, payload::of(article{"tea", 2}),
    std::make_shared<const std::vector<ai::artifact>>(
      std::vector{ai::artifact{"plan", {ai::part::text("brew")}}}),
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
  result.created_at = caf::timestamp{1s};
  result.labels = {"approved"};
  result.note = "as we said";
  result.orphaned = true;
  return result;
}

std::tuple<session_edit, session_summary, session_view, snapshot_outcome,
           snapshot_trigger>
session_samples() {
  session_view view{session_id{"s"}, talk(), 1ull << 40};
  view.turn = 3;
  view.last_snapshot = snapshot_id{"a"};
  session_summary summary;
  summary.last = view;
  summary.snapshots = {snapshot_id{"a"}, snapshot_id{"b"}};
  return {session_edit{session_verb::add_artifact,
                       payload::of(ai::artifact{"plan", {}}), 7},
          std::move(summary), std::move(view),
          snapshot_outcome{snapshot_id{"a"}, true},
          snapshot_trigger{snapshot_event::tool_iteration_end}};
}

auto store_samples() {
  const session_ref which{"/agent/chat", session_id{"s"}};
  const snapshot_ref snapshot{which, 1ull << 40};
  list_sessions sessions;
  sessions.agent = which.agent;
  sessions.label = "approved";
  sessions.updated_since = caf::timestamp{1s};
  sessions.after = which;
  sessions.limit = max_page;
  list_snapshots snapshots{which};
  snapshots.with_orphans = true;
  snapshots.wanted = detail_level::state;
  snapshots.after = 3;
  snapshots.limit = 1;
  label_snapshot label{snapshot};
  label.add = {"approved"};
  label.remove = {"draft", "old"};
  prune_snapshots prune;
  prune.agent = which.agent;
  prune.session = which.id;
  prune.created_before = caf::timestamp{1s};
  prune.keep_newest = 1ull << 40;
  session_info info;
  info.agent = which.agent;
  info.id = which.id;
  info.updated_at = caf::timestamp{1s};
  info.records = 2;
  info.title = "Tea";
  info.preview = "tea?";
  info.messages = 3;
  info.bytes = 1ull << 40;
  verify_sessions verify;
  verify.agent = which.agent;
  verify.session = which.id;
  verify.after = which;
  verify.after_record = 1ull << 40;
  verify.limit = max_page;
  verified_page verified;
  verified.sessions = 1;
  verified.records = 1ull << 40;
  verified.damages = {damage{damage_kind::missing, which, 5, state_id{"b"},
                             "state b is missing"},
                      damage{}};
  verified.last = which;
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
  return std::tuple{annotate_snapshot{snapshot, "as we said"},
                    copy_session{which, {"/agent/b", session_id{"t"}}, 7},
                    delete_session{which},
                    erased{1ull << 40, 1},
                    get_session{which, detail_level::record},
                    get_snapshot{snapshot, detail_level::record},
                    label,
                    sessions,
                    snapshots,
                    prune,
                    restore_snapshot{snapshot},
                    save_session{which, talk(), 5},
                    save_snapshot{record(), talk(), append_rule::at_head},
                    saved_snapshot{record(), true},
                    info,
                    session_list,
                    snapshot_list,
                    record(),
                    session,
                    stored_snapshot{record(), talk()},
                    title_session{which, "Tea"},
                    vacuum_store{},
                    vacuumed{1ull << 40, 1},
                    verified,
                    verify};
}

struct protocol : threaded {
  protocol() {
    sink = system.spawn<caf::hidden>([]() -> chunk_sink::behavior_type {
      return {[](chunk_batch&) {}, [](input_credit) {}, [](turn_end) {},
              [](finished&) {}};
    });
    connection
      = system.spawn<caf::hidden>([]() -> connection_actor::behavior_type {
          return {[](turn_input&) {}, [](chunk_credit) {},
                  [](caf::close_atom) {}, [](cancel_atom) {}};
        });
  }

  ~protocol() override {
    caf::anon_send_exit(sink, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(connection, caf::exit_reason::user_shutdown);
  }

  /// One of each noun; a noun that is missing here does not compile.
  auto samples() const {
    const auto value = payload::of(article{"tea \"x\"", 2});
    open_options options;
    options.input_window = 7;
    options.chunk_window = 0;
    options.deadline = 5s;
    options.trace_parent = "00-1-2-01";
    descriptor info;
    info.key = "/bidi-flow/shop";
    info.input_schema = schema_of<article>();
    return std::tuple_cat(
      std::tuple{action_list{{info, descriptor{}}},
                 chunk_batch{1ull << 40, 2, payload::encoded("[1,2]"), 3},
                 chunk_credit{max_window},
                 finished{value, fail(errc::data_loss, "torn", R"({"at":3})"),
                          1ull << 40, 5},
                 input_credit{1}, open{"/bidi-flow/shop", value, options, sink},
                 opened{connection, 7}, value, turn_end{1ull << 40, 1},
                 turn_input{value, 9}},
      session_samples(), store_samples());
  }

  template <class T>
  std::vector<char> save(const T& x) {
    std::vector<char> result;
    caf::binary_serializer to{system, result};
    EXPECT_FALSE(to(x));
    return result;
  }

  template <class T>
  T load(const std::vector<char>& bytes) {
    T result;
    caf::binary_deserializer from{system, bytes};
    EXPECT_FALSE(from(result));
    EXPECT_EQ(from.remaining(), 0u);
    return result;
  }

  template <class T>
  void check_round_trip(const T& x) {
    EXPECT_EQ(load<T>(save(x)), x) << caf::deep_to_string(x);
    const caf::message message
      = load<caf::message>(save(caf::make_message(x, 17, x)));
    ASSERT_TRUE((message.match_elements<T, int, T>()))
      << caf::deep_to_string(x);
    EXPECT_EQ(message.get_as<T>(0), x);
    EXPECT_EQ(message.get_as<T>(2), x);
  }

  chunk_sink sink;
  connection_actor connection;
};

std::string text_of(const caf::error& x) {
  return to_status(x).message();
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
  EXPECT_EQ(count, 40);
}

TEST_F(protocol, every_noun_travels) {
  for_each_noun([&]<class T>(T*) {
    check_round_trip(T{});
    check_round_trip(std::get<T>(samples()));
    EXPECT_EQ(std::get<T>(samples()) == T{}, std::is_empty_v<T>);
  });
}

TEST_F(protocol, every_noun_can_be_printed) {
  for_each_noun([&]<class T>(T*) {
    // A described struct is shown as its JSON.
    const auto* start = described<T> ? "{\"" : "tertulia::";
    EXPECT_TRUE(caf::deep_to_string(T{}).starts_with(start));
    const auto text = caf::deep_to_string(std::get<T>(samples()));
    EXPECT_TRUE(text.starts_with(start)) << text;
    EXPECT_EQ(text == caf::deep_to_string(T{}), std::is_empty_v<T>);
  });
}

TEST_F(protocol, half_a_noun_is_an_error) {
  for_each_noun([&]<class T>(T*) {
    const auto bytes = save(std::get<T>(samples()));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::vector<char> part(
        bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      T result;
      caf::binary_deserializer from{system, part};
      EXPECT_TRUE(from(result)) << size << " of " << bytes.size();
    }
  });
}

// -- verbs --------------------------------------------------------------------

TEST_F(protocol, verbs_are_legal_and_pairwise_distinct) {
  const caf::atom_value ours[]
    = {arm_atom::value,     cancel_atom::value, claim_atom::value,
       disarm_atom::value,  done_atom::value,   list_atom::value,
       release_atom::value, spend_atom::value};
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

// -- payloads -----------------------------------------------------------------

TEST_F(protocol, a_payload_is_moved_out_when_nobody_shares_it) {
  auto x = payload::of(std::string(100, 'x'));
  const auto* at = x.get_if<std::string>()->data();
  const auto taken = std::move(x).take<std::string>();
  EXPECT_EQ(taken.data(), at);
}

TEST_F(protocol, a_payload_is_copied_out_when_somebody_shares_it) {
  auto x = payload::of(std::string(100, 'x'));
  const auto other = x;
  const auto taken = std::move(x).take<std::string>();
  EXPECT_EQ(taken, std::string(100, 'x'));
  ASSERT_NE(other.get_if<std::string>(), nullptr);
  EXPECT_EQ(*other.get_if<std::string>(), taken);
  EXPECT_NE(other.get_if<std::string>()->data(), taken.data());
}

TEST_F(protocol, a_payload_is_decoded_from_text) {
  const auto text = R"({"name":"tea","pieces":2})";
  EXPECT_EQ(payload::encoded(text).take<article>(), (article{"tea", 2}));
  EXPECT_EQ(payload::encoded(text).take<json>(), parse_json<json>(text));
  EXPECT_EQ(payload::encoded(text).get_if<article>(), nullptr);
  EXPECT_EQ(payload::encoded(text).text(), text);
  EXPECT_EQ(payload::of(article{"tea", 2}).text(), text);
  EXPECT_EQ(payload::of(article{"tea", 2}), payload::encoded(text));
}

TEST_F(protocol, a_payload_is_converted_between_compatible_types) {
  const auto x = payload::of(article{"tea", 2});
  EXPECT_EQ(payload{x}.take<label>(), label{"tea"});
  EXPECT_EQ((payload{x}.take<json>()), to_json(article{"tea", 2}));
  EXPECT_EQ(payload::of(json(7)).take<double>(), 7.0);
  EXPECT_EQ(payload::of(std::vector{1, 2}).take<chunks<int>>(),
            (chunks<int>{1, 2}));
  const auto as_label = payload{x}.as<label>();
  ASSERT_NE(as_label.get_if<label>(), nullptr);
  EXPECT_EQ(x.get_if<label>(), nullptr);
}

TEST_F(protocol, a_payload_of_another_shape_names_the_path) {
  const auto error = error_of([] {
    static_cast<void>(
      payload::encoded(R"({"name":"tea","pieces":[]})").take<article>());
  });
  EXPECT_EQ(error.code(), errc::invalid_argument);
  EXPECT_EQ(error.message(), "$.pieces: expected an integer, found an array");
  for (const auto* text : {"", "{", "nul", "[1,]", "\xff"})
    EXPECT_EQ(code_from([&] {
                static_cast<void>(payload::encoded(text).take<json>());
              }),
              errc::invalid_argument)
      << text;
}

TEST_F(protocol, no_payload_is_not_null) {
  EXPECT_FALSE(payload{});
  EXPECT_TRUE(payload::of(json(nullptr)));
  EXPECT_TRUE(payload::encoded("null"));
  EXPECT_EQ(payload{}.text(), "");
  EXPECT_EQ(payload::of(json(nullptr)).text(), "null");
  EXPECT_FALSE(payload{} == payload::of(json(nullptr)));
  EXPECT_EQ(
    code_from([] { static_cast<void>(payload{}.take<std::optional<int>>()); }),
    errc::invalid_argument);
  EXPECT_EQ(payload::encoded("null").take<std::optional<int>>(), std::nullopt);
  EXPECT_FALSE(load<payload>(save(payload{})));
  EXPECT_TRUE(load<payload>(save(payload::of(std::optional<int>{}))));
  EXPECT_FALSE(payload{}.sealed());
}

TEST_F(protocol, a_payload_without_json_fails_where_it_is_encoded) {
  const auto x = payload::of(std::numeric_limits<double>::infinity());
  EXPECT_EQ(code_from([&] { static_cast<void>(x.sealed()); }),
            errc::invalid_argument);
  std::vector<char> bytes;
  caf::binary_serializer to{system, bytes};
  EXPECT_EQ(code_of(to(x)), errc::invalid_argument);
  EXPECT_FALSE(caf::deep_to_string(x).empty());
  EXPECT_EQ(payload{x}.take<double>(), std::numeric_limits<double>::infinity());
}

// -- errors -------------------------------------------------------------------

TEST_F(protocol, the_numbers_of_errors_are_fixed_for_ever) {
  const std::array names{"ok",
                         "cancelled",
                         "unknown",
                         "invalid_argument",
                         "deadline_exceeded",
                         "not_found",
                         "already_exists",
                         "permission_denied",
                         "resource_exhausted",
                         "failed_precondition",
                         "aborted",
                         "out_of_range",
                         "unimplemented",
                         "internal",
                         "unavailable",
                         "data_loss",
                         "unauthenticated"};
  EXPECT_EQ(names.size(), static_cast<std::size_t>(last_errc) + 1);
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(to_string(static_cast<errc>(i)), names[i]);
  EXPECT_EQ(to_string(static_cast<errc>(names.size())), "unknown");
  EXPECT_EQ(static_cast<int>(errc::failed_precondition), 9);
  EXPECT_EQ(static_cast<int>(errc::unauthenticated), 16);
}

TEST_F(protocol, an_error_keeps_code_message_and_details_on_its_way) {
  for (int i = 1; i <= static_cast<int>(last_errc); ++i) {
    const status_error before{static_cast<errc>(i), "so \"it\" is", "{}"};
    const auto error = to_error(before);
    EXPECT_EQ(error.category(), caf::atom("tertulia"));
    EXPECT_EQ(error.code(), i);
    EXPECT_EQ(code_of(error), before.code());
    const auto after = to_status(load<caf::error>(save(error)));
    EXPECT_EQ(after.code(), before.code());
    EXPECT_EQ(after.message(), before.message());
    EXPECT_EQ(after.details(), before.details());
    EXPECT_EQ(system.render(error),
              std::string{to_string(before.code())} + ": so \"it\" is");
  }
}

TEST_F(protocol, an_error_of_another_maker_is_understood) {
  EXPECT_EQ(code_of(caf::none), errc::ok);
  EXPECT_EQ(code_of(caf::make_error(errc::aborted)), errc::aborted);
  EXPECT_EQ(text_of(caf::make_error(errc::aborted)), "aborted");
  EXPECT_EQ(text_of(caf::make_error(errc::aborted, "alone"s)), "alone");
  EXPECT_EQ(code_of(caf::make_error(errc::aborted, 1, 2)), errc::aborted);
  EXPECT_EQ(code_of(caf::error{200, caf::atom("tertulia")}), errc::unknown);
  EXPECT_EQ(code_of(caf::error{1, caf::atom("theirs")}), errc::unknown);
}

TEST_F(protocol, an_error_of_caf_has_a_code_of_ours) {
  const std::pair<caf::sec, errc> of_the_system[] = {
    {caf::sec::request_timeout, errc::deadline_exceeded},
    {caf::sec::request_receiver_down, errc::unavailable},
    {caf::sec::cannot_connect_to_node, errc::unavailable},
    {caf::sec::no_route_to_receiving_node, errc::unavailable},
    {caf::sec::disconnect_during_handshake, errc::unavailable},
    {caf::sec::unexpected_message, errc::unimplemented},
    {caf::sec::runtime_error, errc::internal},
    {caf::sec::bad_function_call, errc::unknown},
  };
  for (const auto& [theirs, ours] : of_the_system) {
    EXPECT_EQ(code_of(theirs), ours) << to_string(theirs);
    EXPECT_FALSE(text_of(theirs).empty());
  }
  const std::pair<caf::exit_reason, errc> of_an_exit[] = {
    {caf::exit_reason::kill, errc::aborted},
    {caf::exit_reason::remote_link_unreachable, errc::unavailable},
    {caf::exit_reason::user_shutdown, errc::cancelled},
    {caf::exit_reason::unhandled_exception, errc::internal},
    {caf::exit_reason::out_of_workers, errc::resource_exhausted},
  };
  for (const auto& [theirs, ours] : of_an_exit)
    EXPECT_EQ(code_of(theirs), ours) << to_string(theirs);
}

TEST_F(protocol, whatever_is_thrown_becomes_one_error) {
  const auto error_from = [](auto&& x) {
    try {
      throw std::forward<decltype(x)>(x);
    } catch (...) {
      return current_exception_to_error();
    }
  };
  const auto ours = error_from(status_error{errc::not_found, "gone", "{}"});
  EXPECT_EQ(code_of(ours), errc::not_found);
  EXPECT_EQ(to_status(ours).details(), "{}");
  EXPECT_EQ(code_of(error_from(std::runtime_error{"odd"})), errc::internal);
  EXPECT_EQ(text_of(error_from(std::runtime_error{"odd"})), "odd");
  EXPECT_EQ(code_of(error_from(42)), errc::internal);
  EXPECT_EQ(code_from([] { raise(fail(errc::data_loss, "x")); }),
            errc::data_loss);
  EXPECT_EQ(value_or_raise(caf::expected<int>{3}), 3);
  EXPECT_EQ(code_from([] {
              value_or_raise(caf::expected<int>{caf::sec::request_timeout});
            }),
            errc::deadline_exceeded);
}

} // namespace tertulia::test
