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

class flow_drain_client : public staying_client {
public:
  using staying_client::staying_client;

private:
  using chunk = ai::stream_chunk<nothing>;

  void next() override {
    chunks_left_ = chunks_per_turn;
    say(one_message());
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
    end(chunks_per_turn);
  }

  std::uint64_t chunks_left_ = 0;
};

class stream_flow final : public client_question {
public:
  stream_flow() {
    add_client<flow_drain_client>(
      opener_of(ai::define_session_flow(stage_.rt, "pour", pour_flow)));
    add_raw_client<raw_echo_client<std::string>>();
    connect();
  }

  double baseline(std::size_t operations) override {
    return client_question::baseline(operations / 10);
  }
};

const enrol stream_flow_row{{.name = "stream_session_flow",
                             .promise = target::at_most(0.12),
                             .operations = 200'000,
                             .smoke_operations = 10'000,
                             .make = make_question<stream_flow>}};

} // namespace

} // namespace tertulia::bench
