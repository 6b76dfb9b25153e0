// SPDX-License-Identifier: BSD-3-Clause

#include <caf/all.hpp>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "support/actor_clients.hpp"
#include "support/memory.hpp"
#include "support/sanitized.hpp"
#include "support/threaded.hpp"

namespace tertulia::test::backpressure_tests {

namespace {

constexpr std::uint64_t a_million = sanitized ? 100'000 : 1'000'000;

/// Checks at every step of a consumer that the producer is ahead by at most one
/// window, and that memory does not grow with the number of chunks passed.
class observer {
public:
  observer(std::uint32_t window, std::uint64_t offer)
    : offer(offer), window_(window) {}

  /// Number of chunks that the producer offers in total.
  const std::uint64_t offer;

  /// Incremented by the producer before each chunk.
  std::atomic<std::uint64_t> produced = 0;

  /// Called by the consumer for each chunk, before it asks for the next.
  void consume(std::uint64_t chunk) {
    if (chunk != consumed_++)
      ++out_of_order;
    ahead = std::max(ahead, produced.load() - consumed_);
    if (consumed_ == offer / 10)
      early_ = bytes_in_use();
  }

  /// Called after the last chunk.
  void check() const {
    EXPECT_EQ(consumed_, offer);
    EXPECT_EQ(produced, offer);
    EXPECT_EQ(out_of_order, 0u);
    EXPECT_LE(ahead, window_ + 1);
    if (offer == a_million) { // at most one byte for every third chunk
      EXPECT_LT(bytes_in_use(), early_ + 256 * 1'024);
    }
  }

private:
  std::uint32_t window_;
  std::uint64_t consumed_ = 0;
  std::uint64_t out_of_order = 0;
  std::uint64_t ahead = 0;
  std::size_t early_ = 0;
};

/// Actor client that handles one chunk per message to itself, and grants one
/// credit for each.
class slow_client {
public:
  explicit slow_client(chunk_sink::pointer self) : self_(self) {}

  chunk_sink::behavior_type
  make_behavior(const front_desk_actor& desk, open_request open_message,
                observer& watch, std::promise<completion>& end) {
    watch_ = &watch;
    end_ = &end;
    open_message.client = self_;
    self_->request(desk, caf::duration{patience}, std::move(open_message))
      .then([this](const open_result& x) { connection_ = x.connection; });
    return {
      [this](chunk_batch& x) {
        auto values = std::move(x).template take<std::uint64_t>();
        const auto idle = waiting_.empty();
        waiting_.insert(waiting_.end(), values.begin(), values.end());
        if (idle)
          step();
      },
      [this](input_credit) { step(); },
      [](turn_end) {},
      [this](completion& x) {
        end_->set_value(std::move(x));
        self_->quit();
      },
    };
  }

private:
  /// Handles one chunk. The message to itself that triggers the next step is
  /// queued behind all messages that have arrived meanwhile.
  void step() {
    if (waiting_.empty())
      return;
    watch_->consume(waiting_.front());
    waiting_.pop_front();
    self_->send(connection_, chunk_credit{1});
    if (!waiting_.empty())
      self_->send(self_, input_credit{0});
  }

  chunk_sink::pointer self_;
  observer* watch_ = nullptr;
  std::promise<completion>* end_ = nullptr;
  connection_actor connection_;
  std::deque<std::uint64_t> waiting_;
};

struct backpressure : threaded {
  auto define_producer(observer& watch) {
    return rt->new_bidi_action(
      "producer",
      [&watch](context, input<int>,
               output<std::uint64_t> out) -> task<std::uint64_t> {
        const witness here;
        for (std::uint64_t i = 0; i < watch.offer; ++i) {
          ++watch.produced;
          co_await out.send(i);
        }
        co_return watch.offer;
      });
  }

  void read_slowly(std::uint32_t window, std::uint64_t offer) {
    observer watch{window, offer};
    auto talk = define_producer(watch).stream_bidi(with_chunk_window(window));
    for (auto chunk : talk.responses(patience))
      watch.consume(chunk);
    EXPECT_EQ(talk.output(patience), offer);
    watch.check();
    EXPECT_TRUE(nothing_is_left());
  }

  void hear_slowly(std::uint32_t window, std::uint64_t offer) {
    observer watch{window, offer};
    std::promise<completion> end;
    auto flow = define_producer(watch);
    system.spawn<caf::hidden>(
      [&](chunk_sink::stateful_pointer<slow_client> self,
          open_request request) {
        return self->state.make_behavior(rt->front_desk(), std::move(request),
                                         watch, end);
      },
      flow.opening_for(chunk_sink{}, with_chunk_window(window)));
    auto last = end.get_future().get();
    EXPECT_FALSE(last.reason);
    watch.check();
    EXPECT_TRUE(nothing_is_left());
  }
};

} // namespace

TEST_F(backpressure, a_slow_reader_holds_a_producer_of_a_million) {
  read_slowly(64, a_million);
}

TEST_F(backpressure, a_slow_reader_holds_it_with_a_window_of_one) {
  read_slowly(1, 20'000);
}

TEST_F(backpressure, a_slow_reader_holds_it_with_a_large_window) {
  read_slowly(4'096, a_million);
}

TEST_F(backpressure, a_slow_actor_holds_a_producer_of_a_million) {
  hear_slowly(64, a_million);
}

TEST_F(actor_client_of, a_flow_waits_while_its_client_pauses) {
  for (const auto window : {0u, 1u, 2u, 64u}) {
    auto client = open_client(define_thrice(), with_chunk_window{window},
                              with_input_window{4});
    client->pause();
    client->send("a");
    client->send("b");
    client->close();
    run();
    EXPECT_TRUE(client.log->chunks.empty());
    EXPECT_EQ(client.log->turns, 0);
    caf::anon_send(client.who, caf::tick_atom_v);
    run();
    EXPECT_EQ(client.log->chunks,
              (std::vector<std::string>{"a.", "a!", "a?", "b.", "b!", "b?"}));
    EXPECT_EQ(client.log->turns, 2);
    EXPECT_EQ(client.log->outputs, std::vector<std::string>{"bye"});
  }
}

TEST_F(actor_client_of, a_flow_gets_all_of_a_batch_before_its_pause) {
  auto client = open_client(define_thrice());
  client->with_chunk = [](auto& self) {
    self.pause();
    self.resume();
    self.pause();
  };
  client->send("a");
  client->close();
  run();
  EXPECT_EQ(client.log->chunks, (std::vector<std::string>{"a.", "a!", "a?"}));
  EXPECT_EQ(client.log->turns, 0);
  caf::anon_send(client.who, caf::tick_atom_v);
  run();
  EXPECT_EQ(client.log->outputs, std::vector<std::string>{"bye"});
}

} // namespace tertulia::test::backpressure_tests
