// SPDX-License-Identifier: BSD-3-Clause

#include "crowd.hpp"

namespace tertulia::bench {

crowd_actor::behavior_type
crowd_state::make_behavior(stage& bench_stage, opener opening, payload first,
                           std::uint64_t at_a_time) {
  line_ = &bench_stage.line;
  desk_ = bench_stage.rt.front_desk();
  opening_ = std::move(opening);
  first_ = std::move(first);
  return {
    [this](chunk_batch& x) { on_chunks(x); },
    [](input_credit) {},
    [this](turn_end& x) {
      if (x.last.size > 0)
        on_chunks(x.last);
      on_turn_end();
    },
    [this](completion& x) {
      if (x.reason)
        line_->fail(self_->system().render(x.reason));
      else
        line_->arrive();
    },
    [=, this](caf::ping_atom, std::uint64_t count) {
      to_open_ = count;
      connections_.reserve(count);
      for (std::uint64_t i = 0; i < at_a_time; ++i)
        open_next();
    },
    [this](caf::close_atom) {
      for (const auto& x : std::exchange(connections_, {}))
        self_->send(x, caf::close_atom_v);
    },
  };
}

void crowd_state::open_next() {
  if (to_open_ == 0)
    return;
  --to_open_;
  // The main thread has a time-out. One of this actor would stay in memory as
  // long as the actor, and would be measured as part of the conversation.
  self_->request(desk_, caf::infinite, opening_(chunk_sink{self_}))
    .then(
      [this](open_result& x) {
        self_->send(x.connection, turn_input{first_});
        connections_.push_back(std::move(x.connection));
      },
      [this](const caf::error& x) { line_->fail(self_->system().render(x)); });
}

} // namespace tertulia::bench
