// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <memory>
#include <utility>

#include "connection_state.hpp"

// Names of the turns of a conversation.

namespace tertulia::detail {

turn_progress connection_state::progress_of(const turn_id& name) const {
  if (name.empty() || !names_)
    return turn_progress::not_begun;
  for (const auto& x : names_->here)
    if (x.name == name && x.input < in.accepted_count()) {
      if (x.input >= ended_inputs_)
        return turn_progress::open;
      return x.input >= names_->last_begin && !is_in_turn()
               ? turn_progress::over
               : turn_progress::past;
    }
  if (name == names_->last)
    return in.accepted_count() == 0 ? turn_progress::over : turn_progress::past;
  const auto& past = names_->past;
  return std::find(past.begin(), past.end(), name) == past.end()
           ? turn_progress::not_begun
           : turn_progress::past;
}

connection_state::turn_names& connection_state::named_turns() {
  if (!names_)
    names_ = std::make_unique<turn_names>();
  return *names_;
}

void connection_state::name_turn(turn_id name) {
  const auto next = in.accepted_count();
  if (!names_ && name.empty())
    return;
  auto& here = named_turns().here;
  // A client that is gone may have named the input before.
  std::erase_if(here, [=](const auto& x) { return x.input >= next; });
  if (name.empty())
    return;
  if (here.size() > max_past_turns && here.front().input < ended_inputs_)
    here.erase(here.begin());
  here.push_back({std::move(name), next});
}

} // namespace tertulia::detail
