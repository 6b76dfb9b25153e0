// SPDX-License-Identifier: BSD-3-Clause

// Measures the time per chunk when a turn of a session flow has a thousand,
// with the default window. The chunks are pieces of a model's answer and pass
// through the responder. Baseline: a round trip in raw CAF.

#include "conversation.hpp"
#include "raw_echo.hpp"
#include "row.hpp"

namespace tertulia::bench {

namespace {

constexpr std::uint64_t chunks_per_turn = 1'000;

task<> pour_flow(context ctx, ai::flow_session<nothing> chat,
                 ai::flow_responder<nothing> out) {
  co_await chat.run_turns(
    ctx, [&](context, const ai::conversation_input&) -> task<> {
      for (std::uint64_t i = 0; i < chunks_per_turn; ++i)
        co_await out.send_text("hello");
    });
}

class flow_drain_client : public client_state {
public:
  using client_state::client_state;

private:
  using chunk = ai::stream_chunk<nothing>;

  void on_start(std::uint64_t operations) override {
    turns_left_ = operations / chunks_per_turn;
    if (turns_left_ == 0)
      connect();
    else
      next();
  }

  void on_opened() override {
    arrive();
  }

  void on_chunks(chunk_batch& x) override {
    const auto* received = x.items.get_if<chunks<chunk>>();
    for (const auto& item : *received)
      if (!item.chunk || item.chunk->content.size() != 1)
        return fail("a chunk is wrong");
    chunks_left_ -= received->size();
    grant();
  }

  void on_turn_end() override {
    if (chunks_left_ != 0)
      return fail("chunks are missing");
    if (--turns_left_ > 0)
      next();
    else
      arrive();
  }

  void next() {
    chunks_left_ = chunks_per_turn;
    say(one_message());
  }

  std::uint64_t turns_left_ = 0;
  std::uint64_t chunks_left_ = 0;
};

class stream_flow final : public question {
public:
  stream_flow() {
    client_.push_back(spawn_client<flow_drain_client>(
      stage_,
      opener_of(ai::define_session_flow(stage_.rt, "pour", pour_flow))));
    raw_client_.push_back(
      spawn_raw_client<raw_echo_client<std::string>>(stage_));
    time_each(stage_, client_, 0); // opens the connection
  }

  double ours(std::size_t operations) override {
    return time_each(stage_, client_, operations);
  }

  double baseline(std::size_t operations) override {
    return time_each(stage_, raw_client_, operations / 10);
  }

private:
  stage stage_;
  std::vector<client_actor> client_;
  std::vector<caf::actor> raw_client_;
};

const enrol stream_flow_row{{.name = "stream_session_flow",
                             .unit = "us",
                             .promise = target::at_most(0.12),
                             .operations = 200'000,
                             .smoke_operations = 10'000,
                             .make = make_question<stream_flow>}};

} // namespace

} // namespace tertulia::bench
