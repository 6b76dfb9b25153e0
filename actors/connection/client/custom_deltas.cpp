// SPDX-License-Identifier: BSD-3-Clause

#include "custom_deltas.hpp"

#include <tertulia/json_patch.hpp>
#include <tertulia/status.hpp>

#include <utility>

#include "connection_state.hpp"

namespace tertulia::detail {

void custom_deltas::change(payload value) {
  latest_ = std::move(value);
  if (waits_)
    return;
  if (owner_.out.reserve()) {
    on_credit();
  } else {
    waits_ = true;
    owner_.out.wait_for_credit(*this);
  }
}

void custom_deltas::on_credit() {
  waits_ = false;
  json patch;
  try {
    patch = take_patch();
  } catch (...) {
    owner_.out.release();
    owner_.root.cancel(current_exception_to_error());
    return;
  }
  if (patch.empty())
    owner_.out.release();
  else
    owner_.add_chunk(owner_.conversation().policy.custom_chunk(patch));
}

json custom_deltas::take_patch() {
  auto next = latest_.to_json();
  const auto turn = owner_.out.turn();
  auto result = turn_ == turn ? make_json_patch(sent_, next)
                              : make_whole_json_patch(next);
  sent_ = std::move(next);
  turn_ = turn;
  return result;
}

} // namespace tertulia::detail
