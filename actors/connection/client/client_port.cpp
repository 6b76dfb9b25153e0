// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/client_port.hpp>

namespace tertulia::detail {

port_state::port_state(connection_actor::pointer self, chunk_sink client,
                       std::uint32_t credit)
  : self_(self), client_(std::move(client)), credit_(credit) {}

void port_state::on(const chunk_credit& x) {
  credit_ += x.chunks;
  send_pending();
}

void port_state::count_input() {
  ++inputs_;
  ++due_input_credit_;
  send_pending();
}

void port_state::send(payload batch) {
  enqueue(std::move(batch));
}

void port_state::end_turn() {
  enqueue({});
}

void port_state::finish(payload output, caf::error reason) {
  if (completion_)
    return;
  completion_.emplace(std::move(output), std::move(reason), 0, inputs_);
  send_pending();
}

void port_state::enqueue(payload batch) {
  if (completion_)
    return;
  pending_.push_back(std::move(batch));
  send_pending();
}

void port_state::send_pending() {
  while (credit_ > 0 && !pending_.empty()) {
    --credit_;
    auto next = pending_.pop_front();
    if (next)
      self_->send(client_, chunk_batch{sent_++, 1, std::move(next)});
    else
      self_->send(client_, turn_end{turns_++, {sent_++, 0, {}}});
  }
  if (!pending_.empty())
    return;
  if (completion_) {
    completion_->length = sent_;
    self_->send(client_, std::move(*completion_));
    self_->quit();
  } else if (due_input_credit_ > 0) {
    self_->send(client_, input_credit{std::exchange(due_input_credit_, 0)});
  }
}

} // namespace tertulia::detail
