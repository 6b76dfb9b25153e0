// SPDX-License-Identifier: BSD-3-Clause

#include "client.hpp"

namespace tertulia::bench {

client_actor::behavior_type client_state::make_behavior(stage& bench_stage,
                                                        opener opening) {
  line_ = &bench_stage.line;
  desk_ = bench_stage.rt.front_desk();
  opening_ = std::move(opening);
  const auto read = [this](chunk_batch& x) {
    if (x.first != next_)
      line_->fail("a chunk is missing");
    next_ += x.size;
    read_ += x.size;
    input_credit_ += x.input_credit;
    if (x.size > 0)
      on_chunks(x);
  };
  return {
    [=, this](chunk_batch& x) {
      read(x);
      gain(0);
    },
    [this](input_credit x) { gain(x.inputs); },
    [=, this](turn_end& x) {
      read(x.last);
      ++next_;
      ++read_;
      gain(0);
      on_turn_end();
    },
    [this](completion& x) {
      connection_ = nullptr;
      if (x.reason)
        return line_->fail(self_->system().render(x.reason));
      if (x.length != next_)
        return line_->fail("the last chunks are missing");
      on_finished();
    },
    [this](caf::ping_atom, std::uint64_t operations) { on_start(operations); },
  };
}

void client_state::connect() {
  auto message = opening_(chunk_sink{self_});
  window_ = message.options.chunk_window;
  read_ = 0;
  next_ = 0;
  input_credit_ = 0;
  // With a finite time-out, CAF's clock would keep this actor alive until the
  // time is up. The finish line has a time-out of its own.
  self_->request(desk_, caf::infinite, std::move(message))
    .then(
      [this](open_result& x) {
        connection_ = std::move(x.connection);
        input_credit_ = x.input_credit;
        on_opened();
      },
      [this](const caf::error& x) { line_->fail(self_->system().render(x)); });
}

void client_state::say(payload value) {
  if (input_credit_ == 0) {
    unsent_ = std::move(value);
    return;
  }
  --input_credit_;
  self_->send(connection_,
              turn_input{std::move(value), std::exchange(read_, 0)});
}

void client_state::grant() {
  if (read_ * 2 >= window_)
    self_->send(connection_, chunk_credit{std::exchange(read_, 0)});
}

void client_state::close() {
  self_->send(connection_, caf::close_atom_v);
}

void client_state::gain(std::uint32_t inputs) {
  input_credit_ += inputs;
  if (unsent_ && input_credit_ > 0)
    say(std::exchange(unsent_, {}));
}

} // namespace tertulia::bench
