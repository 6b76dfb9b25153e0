// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/chunks.hpp>
#include <tertulia/descriptor.hpp>
#include <tertulia/detail/client_end.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store/runs.hpp>

#include <caf/all.hpp>

#include <optional>
#include <vector>

#include "support/threaded.hpp"

namespace tertulia::test::client_end_tests {

namespace {

chunk_batch batch(std::uint64_t first, std::uint32_t size) {
  chunks<int> values(size, 7);
  return {first, size, payload::of(std::move(values))};
}

open_result position_at(std::uint32_t credit, std::uint32_t reader,
                        std::uint64_t next, std::uint64_t inputs,
                        std::uint64_t taken) {
  open_result result{{}, credit};
  result.attached.run = run_id{"r"};
  result.attached.reader = reader;
  result.attached.next = next;
  result.attached.inputs = inputs;
  result.attached.taken = taken;
  return result;
}

struct client_end : threaded {
  detail::client_end end{8};

  /// Returns an action whose connections go to an actor that sends these
  /// batches, and then an output that reports `count` chunks, if `count` is
  /// set.
  auto action_to(std::vector<chunk_batch> batches,
                 std::optional<std::uint64_t> count,
                 gate* cancelled = nullptr) {
    const auto peer = system.spawn<caf::hidden>(
      [=](connection_actor::pointer self) -> connection_actor::behavior_type {
        return {
          [](turn_input&) {},
          [](chunk_credit) {},
          [](caf::close_atom) {},
          [=](cancel_atom) {
            if (cancelled != nullptr)
              cancelled->open();
            self->quit();
          },
        };
      });
    const auto desk = system.spawn<caf::hidden>(
      [=](front_desk_actor::pointer self) -> front_desk_actor::behavior_type {
        return {
          [=](open_request& x) {
            auto promise = self->make_response_promise<open_result>();
            promise.deliver(open_result{peer, 1});
            for (const auto& y : batches)
              caf::send_as(peer, x.client, y);
            if (count)
              caf::send_as(peer, x.client,
                           completion{payload::of(1), {}, *count, 0});
            self->quit();
            return promise;
          },
          [](const run_request&) { return run_info{}; },
          [](const list_runs_request&) { return run_page{}; },
          [](list_atom) { return action_list{}; },
          [](caf::get_atom, const std::string&) {
            return caf::strong_actor_ptr{};
          },
        };
      });
    return detail::access::make<bidi_action<nothing, int, int, int>>(
      detail::action_ref{&system, desk, "/flow/scripted", {}, nullptr});
  }

  auto open_to(std::vector<chunk_batch> batches, std::uint64_t count) {
    return action_to(std::move(batches), count).stream_bidi();
  }

  /// Checks that a client reads these chunks and then loses data.
  template <class Talk>
  static void expect_loss_after(Talk talk, const std::vector<int>& chunks) {
    std::vector<int> received;
    EXPECT_EQ(code_from([&] {
                for (const auto x : talk.responses(patience))
                  received.push_back(x);
              }),
              errc::data_loss);
    EXPECT_EQ(received, chunks);
    EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::data_loss);
  }
};

} // namespace

TEST_F(client_end, chunks_in_their_order_are_read) {
  end.on(batch(0, 2));
  end.on(batch(2, 1));
  end.on(completion{payload::of(1), {}, 3, 0});
  EXPECT_EQ(end.take_chunks().size, 2u);
  EXPECT_EQ(end.take_chunks().size, 1u);
  EXPECT_EQ(end.next(), detail::client_end::arrival::end);
  EXPECT_FALSE(end.failure());
}

TEST_F(client_end, a_gap_a_repetition_and_a_wrong_count_are_data_loss) {
  const auto code_after
    = [](std::vector<chunk_batch> all, std::uint64_t count) {
        detail::client_end x{8};
        for (auto& y : all)
          x.on(std::move(y));
        x.on(completion{payload::of(1), {}, count, 0});
        EXPECT_TRUE(x.ended());
        return code_of(x.failure());
      };
  EXPECT_EQ(code_after({batch(0, 1), batch(1, 1)}, 2), errc::ok);
  EXPECT_EQ(code_after({batch(1, 1)}, 2), errc::data_loss);
  EXPECT_EQ(code_after({batch(0, 2), batch(3, 1)}, 4), errc::data_loss);
  EXPECT_EQ(code_after({batch(0, 2), batch(1, 1)}, 2), errc::data_loss);
  EXPECT_EQ(code_after({batch(0, 2)}, 3), errc::data_loss);
  EXPECT_EQ(code_after({batch(0, 2)}, 1), errc::data_loss);
}

TEST_F(client_end, the_end_of_a_turn_has_a_number_of_its_own) {
  const auto code_after = [](std::uint64_t first, std::uint64_t length) {
    detail::client_end x{8};
    x.on(batch(0, 1));
    x.on(turn_end{0, batch(first, 1)});
    x.on(turn_end{1, batch(3, 0)});
    x.on(completion{payload::of(1), {}, length, 0});
    return code_of(x.failure());
  };
  EXPECT_EQ(code_after(1, 4), errc::ok);
  EXPECT_EQ(code_after(1, 3), errc::data_loss);
  EXPECT_EQ(code_after(2, 4), errc::data_loss);
  end.on(turn_end{0, batch(1, 0)});
  EXPECT_EQ(code_of(end.failure()), errc::data_loss);
}

TEST_F(client_end, what_came_before_a_gap_is_read_before_the_error) {
  end.on(batch(0, 2));
  end.on(batch(5, 1));
  EXPECT_EQ(end.next(), detail::client_end::arrival::chunks);
  EXPECT_EQ(end.take_chunks().size, 2u);
  EXPECT_EQ(end.next(), detail::client_end::arrival::end);
  EXPECT_EQ(code_of(end.failure()), errc::data_loss);
}

TEST_F(client_end, more_than_there_was_credit_for_is_not_kept) {
  end.on(batch(0, 8));
  EXPECT_FALSE(end.ended()) << "a whole window";
  end.on(turn_end{0, batch(8, 0)});
  ASSERT_TRUE(end.ended());
  EXPECT_EQ(code_of(end.failure()), errc::resource_exhausted);
  EXPECT_EQ(end.take_chunks().size, 8u) << "what came before is read";
  EXPECT_EQ(end.next(), detail::client_end::arrival::end);
}

TEST_F(client_end, a_rendezvous_takes_one_chunk_at_a_time) {
  detail::client_end one{0};
  EXPECT_EQ(one.credit_due(true), 1u);
  EXPECT_EQ(one.credit_due(true), 0u) << "it was granted";
  one.on(batch(0, 1));
  EXPECT_FALSE(one.ended());
  one.on(batch(1, 1));
  EXPECT_EQ(code_of(one.failure()), errc::resource_exhausted);
}

TEST_F(client_end, ends_of_turns_without_end_are_not_kept) {
  for (std::uint64_t i = 0; i < 1'000; ++i)
    end.on(turn_end{i, batch(i, 0)});
  EXPECT_EQ(code_of(end.failure()), errc::resource_exhausted);
}

TEST_F(client_end, whoever_is_read_may_go_on_for_ever) {
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    end.on(batch(i * 9, 8));
    EXPECT_EQ(end.take_chunks().size, 8u);
    end.on(turn_end{i, batch(i * 9 + 8, 0)});
    if (i % 2 == 0)
      end.take_turn_end();
    else
      end.drop_unread();
  }
  EXPECT_FALSE(end.ended());
}

TEST_F(client_end, a_connection_that_sends_without_credit_is_cancelled) {
  std::vector<chunk_batch> all;
  for (std::uint64_t i = 0; i < 100; ++i)
    all.push_back(batch(i, 1));
  all.push_back(batch(100, 100'000));
  auto talk = open_to(all, 100'100);
  EXPECT_EQ(code_from([&] { talk.output(patience); }),
            errc::resource_exhausted);
}

TEST_F(client_end,
       what_a_session_that_is_opened_again_lacks_was_lost_or_not_stored) {
  const auto code_after
    = [](std::uint64_t number, std::uint64_t left, std::uint32_t reader = 0) {
        open_result opened;
        opened.attached.run = run_id{"a"};
        opened.attached.is_stored = true;
        opened.attached.next = number;
        opened.attached.reader = reader;
        opened.attached.inputs = opened.attached.taken = 3;
        detail::client_end x{8};
        x.on(opened);
        x.keep_stored_inputs();
        (void)x.begin_to_reopen(open_options{});
        opened.attached.run = run_id{"b"};
        opened.attached.inputs = opened.attached.taken = left;
        (void)x.on_reopened(opened);
        return code_of(x.failure());
      };
  EXPECT_EQ(code_after(0, 3), errc::ok);
  EXPECT_EQ(code_after(0, 2), errc::data_loss) << "it began with three";
  EXPECT_EQ(code_after(1, 2), errc::unavailable)
    << "the third one was that of another client, and in the turn under way";
  EXPECT_EQ(code_after(0, 2, 1), errc::unavailable)
    << "nor did the second reader begin it";
}

TEST_F(client_end, batches_without_chunks_are_not_kept) {
  end.on({0, 0, payload::of(chunks<int>(1'000, 7))});
  EXPECT_EQ(code_of(end.failure()), errc::data_loss);
  EXPECT_EQ(end.next(), detail::client_end::arrival::end);
}

TEST_F(client_end, a_batch_with_another_count_than_it_says_is_data_loss) {
  for (const auto actual : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
    const chunk_batch wrong{1, 2, payload::of(chunks<int>(actual, 7))};
    expect_loss_after(open_to({batch(0, 1), wrong}, 3), {7});
  }
}

TEST_F(client_end, a_flow_hears_of_a_wrong_count_too) {
  const auto inner = action_to({{0, 2, payload::of(chunks<int>{})}}, 2);
  const auto outer = rt->define_bidi_flow(
    "outer",
    [=](context ctx, input<nothing>, output<int> out) -> task<nothing> {
      auto talk = co_await inner.open(ctx);
      while (const auto x = co_await talk.next())
        co_await out.send(*x);
      co_return nothing{};
    });
  EXPECT_EQ(code_from([&] { outer.stream_bidi().output(patience); }),
            errc::data_loss);
}

TEST_F(client_end, what_was_rejected_first_is_the_reason) {
  end.reject(fail(errc::data_loss, "a chunk"));
  end.reject(fail(errc::invalid_argument, "another chunk"));
  EXPECT_EQ(code_of(end.failure()), errc::data_loss);
}

TEST_F(client_end, a_flow_cancels_what_it_cannot_read) {
  gate cancelled;
  const auto inner = action_to({{0, 2, payload::of(chunks<int>{7})}},
                               std::nullopt, &cancelled);
  const auto outer = rt->define_bidi_flow(
    "outer", [&](context ctx, input<nothing> in, output<int>) -> task<nothing> {
      auto talk = co_await inner.open(ctx);
      try {
        while (co_await talk.next())
          ;
      } catch (const status_error&) {
      }
      co_await in.next(); // the body still owns the connection
      co_return nothing{};
    });
  auto talk = outer.stream_bidi();
  cancelled.wait();
}

TEST_F(client_end, inputs_that_nobody_took_are_counted) {
  (void)end.message_for({});
  (void)end.message_for({});
  (void)end.message_for({});
  EXPECT_EQ(end.unread_inputs(), 0u) << "nobody knows yet";
  end.on(completion{payload::of(1), {}, 0, 2});
  EXPECT_EQ(end.unread_inputs(), 1u);
}

TEST_F(client_end, inputs_of_a_lost_connection_count_as_unread) {
  (void)end.message_for({});
  end.on_lost(fail(errc::aborted, "gone"));
  EXPECT_EQ(end.unread_inputs(), 1u);
}

TEST_F(client_end, a_chunk_that_is_missing_is_data_loss_to_everybody) {
  expect_loss_after(open_to({batch(0, 2), batch(3, 1)}, 4), {7, 7});
}

// -- coming back --------------------------------------------------------------

TEST_F(client_end, the_stream_of_a_reader_that_was_lost_is_dropped) {
  detail::client_end x{4};
  x.on(position_at(2, 0, 0, 0, 0));
  x.on(batch(0, 3));
  const auto options = x.begin_to_return();
  EXPECT_EQ(options.attach->after, 3u);
  EXPECT_EQ(options.chunk_window, 1u) << "three are held";
  x.on(batch(7, 1));
  x.on(turn_end{0, batch(3, 0)});
  x.on(completion{{}, fail(errc::aborted, "replaced"), 3, 0});
  EXPECT_FALSE(x.ended());
  EXPECT_TRUE(x.on_returned(position_at(2, 5, 3, 0, 0)).empty());
  EXPECT_EQ(x.reader(), 5u);
  x.on(batch(7, 1));
  x.on(turn_end{0, batch(3, 0)});
  x.on(completion{{}, fail(errc::aborted, "replaced"), 3, 0});
  x.drop_unread();
  EXPECT_EQ(x.next(), detail::client_end::arrival::none);
  auto following = batch(3, 1);
  following.reader = 5;
  x.on(std::move(following));
  EXPECT_EQ(x.next(), detail::client_end::arrival::chunks);
  EXPECT_FALSE(x.ended());
}

TEST_F(client_end, messages_for_another_reader_are_dropped) {
  detail::client_end x{4};
  x.on(position_at(1, 5, 0, 0, 0));
  for (const auto reader : {4u, 6u}) {
    auto chunk = batch(0, 1);
    chunk.reader = reader;
    x.on(turn_end{0, chunk});
    x.on(std::move(chunk));
    x.on(input_credit{1, reader});
    x.on(completion{{}, {}, 0, 0, reader});
  }
  EXPECT_EQ(x.next(), detail::client_end::arrival::none);
  EXPECT_FALSE(x.ended());
  x.spend_input_credit();
  EXPECT_FALSE(x.has_input_credit());
}

TEST_F(client_end, credit_is_kept_until_the_answer) {
  detail::client_end x{1};
  x.on(position_at(1, 0, 0, 0, 0));
  x.on(batch(0, 1));
  EXPECT_EQ(x.begin_to_return().chunk_window, 0u);
  x.count_consumed(x.take_chunks().size);
  EXPECT_EQ(x.credit_due(true), 0u) << "it would go to a reader that is gone";
  (void)x.on_returned(position_at(1, 1, 1, 0, 0));
  EXPECT_EQ(x.credit_due(true), 1u);
}

TEST_F(client_end, a_listener_comes_back_whatever_the_talker_has_sent) {
  detail::client_end x{4, client_role::listener};
  x.on(position_at(0, 1, 0, 0, 0));
  (void)x.begin_to_return();
  EXPECT_TRUE(x.on_returned(position_at(0, 2, 0, 7, 7)).empty());
  EXPECT_FALSE(x.ended());
  EXPECT_EQ(x.reader(), 2u);
}

TEST_F(client_end, inputs_of_others_are_not_acknowledgements) {
  detail::client_end x{4};
  // The run has two inputs of another client, which the body has not taken.
  x.on(position_at(2, 1, 0, 2, 0));
  EXPECT_EQ(x.message_for(payload::of(1)).number, 2u);
  x.on(input_credit{2, 1});
  (void)x.begin_to_return();
  const auto again = x.on_returned(position_at(2, 2, 0, 2, 2));
  ASSERT_EQ(again.size(), 1u) << "it was lost on the way";
  EXPECT_EQ(again.front().number, 2u);
  EXPECT_EQ(again.front().reader, 2u);
  x.on(input_credit{5, 1}); // of the reader that was lost
  x.on(input_credit{1, 2});
  (void)x.begin_to_return();
  EXPECT_TRUE(x.on_returned(position_at(2, 3, 0, 3, 3)).empty());
}

TEST_F(client_end, an_input_that_the_run_claims_to_have_is_not_sent_again) {
  detail::client_end x{4};
  x.on(position_at(1, 1, 0, 0, 0));
  (void)x.message_for(payload::of(1));
  (void)x.begin_to_return();
  EXPECT_TRUE(x.on_returned(position_at(0, 2, 0, 0, 0)).empty());
  EXPECT_TRUE(x.has_unsent()) << "there is no credit for it";
  x.on(input_credit{1, 2});
  EXPECT_FALSE(x.has_unsent());
  EXPECT_TRUE(x.due_inputs().empty());
}

} // namespace tertulia::test::client_end_tests
