// SPDX-License-Identifier: BSD-3-Clause

// Client's end of a session that is opened again because its run is lost.

#include <tertulia/chunks.hpp>
#include <tertulia/detail/client_end.hpp>
#include <tertulia/status.hpp>

#include <caf/all.hpp>

#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tertulia::test::reopened_end_tests {

namespace {

using arrival = detail::client_end::arrival;

chunk_batch batch(std::uint64_t first, std::uint32_t size) {
  chunks<int> values(size, 7);
  return {first, size, payload::of(std::move(values))};
}

turn_end end_of(std::uint64_t turn, std::uint64_t number,
                std::uint64_t stored) {
  return turn_end{turn, batch(number, 0), snapshot_id{"s"}, {}, stored};
}

open_result run_at(const char* run, std::uint64_t turn, std::uint64_t inputs) {
  open_result result{{}, 4, session_id{"s"}};
  result.snapshot = snapshot_id{"now"};
  result.attached.run = run_id{run};
  result.attached.turn = turn;
  result.attached.inputs = result.attached.taken = inputs;
  result.attached.is_stored = true;
  return result;
}

struct reopened_end : ::testing::Test {
  reopened_end() {
    end.keep_stored_inputs();
    end.on(run_at("old", 0, 0));
  }

  void send(int inputs) {
    for (int i = 0; i < inputs; ++i)
      (void)end.message_for(payload::of(i));
  }

  std::vector<turn_input> reopen(std::uint64_t turn, std::uint64_t inputs) {
    const auto options = end.begin_to_reopen({});
    EXPECT_EQ(options.session, session_id{"s"});
    EXPECT_EQ(options.resume_after, 0u);
    EXPECT_TRUE(options.attach->back_as);
    EXPECT_EQ(options.disconnect, on_disconnect::keep);
    return end.on_reopened(run_at("new", turn, inputs));
  }

  detail::client_end end{8};
};

} // namespace

TEST_F(reopened_end, an_input_that_is_not_stored_is_sent_again) {
  send(2);
  end.on(end_of(0, 0, 1));
  end.on(input_credit{1}); // the body had taken the second one
  const auto again = reopen(1, 1);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again.front().number, 1u);
  EXPECT_EQ(again.front().value.to_json(), 1);
}

TEST_F(reopened_end, an_input_that_is_stored_is_not_sent_again) {
  send(2);
  EXPECT_TRUE(reopen(1, 2).empty());
}

TEST_F(reopened_end, a_turn_that_ended_unheard_has_an_end) {
  send(2);
  end.on(end_of(0, 0, 1));
  end.take_turn_end();
  EXPECT_TRUE(reopen(2, 2).empty());
  ASSERT_EQ(end.next(), arrival::turn_end);
  end.take_turn_end();
  EXPECT_EQ(end.last_snapshot(), snapshot_id{"now"});
  EXPECT_EQ(end.next(), arrival::none);
  EXPECT_EQ(end.position(), 0u);
}

TEST_F(reopened_end, a_turn_that_was_heard_is_not_read_twice) {
  send(3);
  end.on(end_of(0, 0, 1));
  end.on(end_of(1, 1, 1)); // no snapshot was wanted
  end.take_turn_end();
  end.take_turn_end();
  EXPECT_EQ(reopen(1, 1).size(), 2u);
  end.on(batch(0, 2));
  end.on(end_of(1, 2, 1));
  EXPECT_EQ(end.next(), arrival::none);
  end.on(batch(3, 1));
  ASSERT_EQ(end.next(), arrival::chunks);
  EXPECT_EQ(end.take_chunks().first, 3u);
}

TEST_F(reopened_end, what_was_read_of_the_turn_cut_off_comes_again) {
  send(1);
  end.on(batch(0, 2));
  EXPECT_EQ(reopen(0, 0).size(), 1u);
  EXPECT_EQ(end.next(), arrival::none) << "what was not read is dropped";
  EXPECT_EQ(end.run(), run_id{"new"});
  end.on(batch(0, 2));
  EXPECT_EQ(end.next(), arrival::chunks);
}

TEST_F(reopened_end, what_is_unread_of_other_turns_stays) {
  send(2);
  end.on(batch(0, 2));
  end.on(end_of(0, 2, 1));
  end.on(batch(3, 1));
  reopen(1, 1);
  EXPECT_EQ(end.take_chunks().size, 2u);
  end.take_turn_end();
  EXPECT_EQ(end.next(), arrival::none);
  EXPECT_EQ(end.position(), 0u) << "in the log of the new run";
}

TEST_F(reopened_end, a_session_that_others_have_continued_is_aborted) {
  send(1);
  EXPECT_TRUE(reopen(2, 2).empty());
  EXPECT_EQ(code_of(end.failure()), errc::aborted);
}

TEST_F(reopened_end, a_session_that_has_lost_what_it_confirmed_is_data_loss) {
  send(2);
  end.on(end_of(0, 0, 1));
  EXPECT_TRUE(reopen(0, 0).empty());
  EXPECT_EQ(code_of(end.failure()), errc::data_loss);
}

TEST_F(reopened_end, credit_is_that_of_the_window) {
  send(1);
  end.on(batch(0, 3));
  end.on(end_of(0, 3, 0));
  EXPECT_EQ(end.begin_to_reopen({}).chunk_window, 4u) << "four are unread";
  (void)end.on_reopened(run_at("new", 1, 1));
  end.count_consumed(end.take_chunks().size);
  end.take_turn_end();
  EXPECT_EQ(end.credit_due(true), 4u);
}

TEST_F(reopened_end, inputs_beyond_the_window_wait_for_credit) {
  send(6);
  EXPECT_EQ(reopen(0, 0).size(), 4u);
  EXPECT_TRUE(end.has_unsent());
  end.on(input_credit{1});
  EXPECT_FALSE(end.has_input_credit()) << "first those that were sent before";
  const auto next = end.due_inputs();
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next.front().number, 4u);
  end.on(input_credit{2});
  EXPECT_EQ(end.due_inputs().size(), 1u);
  EXPECT_FALSE(end.has_unsent());
  EXPECT_TRUE(end.has_input_credit());
}

TEST_F(reopened_end, only_what_this_client_has_begun_is_resumed) {
  detail::client_end other{8};
  other.keep_stored_inputs();
  other.on(run_at("old", 3, 5)); // in a turn that it leaves as it is
  EXPECT_EQ(other.begin_to_reopen({}).resume_after, 5u);
}

TEST_F(reopened_end, the_name_of_a_turn_is_kept_until_its_end) {
  open_options first;
  first.turn = turn_id{"a"};
  EXPECT_EQ(end.begin_to_reopen(first).turn, first.turn);
  (void)end.on_reopened(run_at("new", 0, 0));
  send(1);
  end.on(end_of(0, 0, 1));
  EXPECT_FALSE(end.begin_to_reopen(first).turn);
}

TEST_F(reopened_end, ends_that_no_message_has_brought_have_no_place) {
  send(2);
  reopen(1, 1);
  (void)end.begin_to_reopen({});
  (void)end.on_reopened(run_at("third", 2, 2));
  end.take_turn_end();
  end.take_turn_end();
  end.on(batch(0, 2));
  EXPECT_EQ(end.take_chunks().size, 2u);
  EXPECT_EQ(end.position(), 2u);
}

TEST_F(reopened_end, a_position_that_cannot_be_is_data_loss) {
  send(1);
  EXPECT_TRUE(reopen(std::numeric_limits<std::uint64_t>::max(), 1).empty());
  EXPECT_EQ(code_of(end.failure()), errc::data_loss);
}

TEST_F(reopened_end, inputs_before_the_opening_were_read) {
  detail::client_end other{8};
  other.on(run_at("r", 0, 1'000));
  (void)other.message_for({});
  other.on_lost(fail(errc::unavailable, "gone"));
  EXPECT_EQ(other.unread_inputs(), 1u);
}

TEST_F(reopened_end, a_run_without_a_store_cannot_be_opened_again) {
  detail::client_end other{8};
  other.keep_stored_inputs();
  auto opened = run_at("r", 0, 0);
  opened.attached.is_stored = false;
  other.on(opened);
  EXPECT_FALSE(other.can_reopen());
  (void)other.message_for({});
  other.on(input_credit{1});
  (void)other.begin_to_return();
  EXPECT_TRUE(other.on_returned(opened).empty()) << "it was acknowledged";
}

} // namespace tertulia::test::reopened_end_tests
