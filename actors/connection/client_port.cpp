// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/client_port.hpp>

namespace tertulia::detail {

port_state::port_state(connection_actor::pointer self, chunk_sink client,
                       std::uint32_t credit)
  : self_(self), client_(std::move(client)), credit_(credit) {}

void port_state::on(const chunk_credit& x) {
  credit_ += x.chunks;
  drain();
}

void port_state::took_input() {
  ++inputs_;
  ++owed_inputs_;
  drain();
}

void port_state::send(payload batch) {
  push(std::move(batch));
}

void port_state::end_turn() {
  push({});
}

void port_state::finish(payload output, caf::error reason) {
  if (last_)
    return;
  last_.emplace(std::move(output), std::move(reason), 0, inputs_);
  drain();
}

void port_state::push(payload batch) {
  if (last_)
    return;
  waiting_.push_back(std::move(batch));
  drain();
}

void port_state::drain() {
  while (credit_ > 0 && !waiting_.empty()) {
    --credit_;
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    if (next)
      self_->send(client_, chunk_batch{sent_++, 1, std::move(next)});
    else
      self_->send(client_, turn_end{turns_++});
  }
  if (!waiting_.empty())
    return;
  if (last_) {
    last_->chunks = sent_;
    self_->send(client_, std::move(*last_));
    self_->quit();
  } else if (owed_inputs_ > 0) {
    self_->send(client_, input_credit{std::exchange(owed_inputs_, 0)});
  }
}

} // namespace tertulia::detail
