// SPDX-License-Identifier: BSD-3-Clause

#include "row_damage.hpp"

#include <tertulia/status.hpp>

#include <utility>

#include <fmt/format.h>

namespace tertulia::rules {

damage damage_of(damage_kind kind, const session_row& x, std::uint64_t sequence,
                 const std::string& what) {
  auto text = fmt::format("session \"{}\" of {} {}", x.info.id.str(),
                          x.info.agent, what);
  if (sequence != 0)
    text = fmt::format("record {} of {}", sequence, text);
  return {kind, x.name(), sequence, {}, std::move(text)};
}

damage damage_of(const session_row& x) {
  return damage_of(damage_kind::corrupt, x, 0, "is corrupt");
}

damage damage_of(const session_row& in, const record_row& x) {
  return damage_of(damage_kind::corrupt, in, x.sequence, "is corrupt");
}

void reject(const damage& x) {
  throw status_error{errc::data_loss, x.what};
}

void add(std::vector<damage>& to, damage x) {
  if (to.size() == max_page)
    reject(x);
  to.push_back(std::move(x));
}

} // namespace tertulia::rules
