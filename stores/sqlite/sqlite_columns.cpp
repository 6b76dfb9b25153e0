// SPDX-License-Identifier: BSD-3-Clause

#include "sqlite_columns.hpp"

#include <tertulia/detail/text.hpp>
#include <tertulia/status.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

namespace tertulia::columns {

namespace {

constexpr std::array<std::string_view, 3> event_names{
  "turn_end", "tool_iteration_end", "invocation_end"};

} // namespace

std::string bytes_of_hex(std::string_view hex) {
  std::array<std::uint8_t, 32> bytes{};
  if (!detail::read_hex(hex, bytes))
    return {};
  return {bytes.begin(), bytes.end()};
}

std::string hex_of_bytes(std::string_view bytes) {
  return detail::to_hex(
    {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::optional<stored_type> type_of(std::string_view name,
                                   std::int64_t version) {
  if (!detail::is_type_name(name) || version <= 0
      || version > std::numeric_limits<std::uint32_t>::max())
    return std::nullopt;
  return stored_type{name, static_cast<std::uint32_t>(version)};
}

std::int64_t to_number(caf::timestamp x) {
  return x.time_since_epoch().count();
}

caf::timestamp to_time(std::int64_t x) {
  return caf::timestamp{caf::timestamp::duration{x}};
}

std::int64_t hour_of(caf::timestamp x) {
  return std::chrono::duration_cast<std::chrono::hours>(x.time_since_epoch())
    .count();
}

std::uint64_t clamped(std::uint64_t x) {
  return std::min<std::uint64_t>(x, std::numeric_limits<std::int64_t>::max());
}

std::string_view name_of(snapshot_event x) {
  return event_names.at(static_cast<std::size_t>(x));
}

std::optional<snapshot_event> to_event(std::string_view x) {
  const auto i = std::find(event_names.begin(), event_names.end(), x);
  if (i == event_names.end())
    return std::nullopt;
  return static_cast<snapshot_event>(i - event_names.begin());
}

snapshot_id id_of(std::string_view own_id, std::string_view state) {
  return snapshot_id{own_id.empty() ? hex_of_bytes(state)
                                    : std::string{own_id}};
}

damage damage_of(damage_kind kind, const session_info& x,
                 std::uint64_t sequence, const std::string& what) {
  auto text = "session \"" + x.id.str() + "\" of " + x.agent + ' ' + what;
  if (sequence != 0)
    text = "record " + std::to_string(sequence) + " of " + text;
  return {kind, {x.agent, x.id}, sequence, {}, std::move(text)};
}

damage damage_of(const session_info& x) {
  return damage_of(damage_kind::corrupt, x, 0, "is corrupt");
}

void reject(const damage& x) {
  throw status_error{errc::data_loss, x.what};
}

void add(std::vector<damage>& to, damage x) {
  if (to.size() == max_page)
    reject(x);
  to.push_back(std::move(x));
}

} // namespace tertulia::columns
