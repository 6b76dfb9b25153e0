// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>

#include "sqlite_columns.hpp"
#include "sqlite_states.hpp"

namespace tertulia {

std::optional<damage_kind> sqlite_states::verify(place x, verifier& last) {
  if (last.where.branch != x.branch || last.where.length > x.length
      || x.branch == 0) {
    last.where = {x.branch, 0};
    last.hash = {};
    last.hash.update(x.length != 0 ? R"({"messages":[)" : "{");
  }
  const auto end = messages_.for_each_text(
    x,
    [&](std::string_view text) {
      if (last.where.length != 0)
        last.hash.update(",");
      last.hash.update(text);
      last.bytes += text.size() + 1;
      ++last.where.length;
      return true;
    },
    last.where.length);
  if (end != x.length)
    return damage_kind::missing;
  return std::nullopt;
}

sqlite_states::verified sqlite_states::verify(std::int64_t key,
                                              verifier& last) {
  verified result;
  place position;
  std::int64_t form = 0;
  std::int64_t custom = 0;
  std::int64_t artifacts = 0;
  auto is_whole = false;
  {
    auto rows = read_.bind(1, key).rows();
    if (!rows.next()) {
      result.damaged = damage_kind::missing;
      return result;
    }
    result.id = state_id{columns::hex_of_bytes(rows.view(0))};
    form = rows.number(1);
    position = {rows.number(2), rows.count(3)};
    custom = rows.number(4);
    artifacts = rows.number(5);
    is_whole = rows.number(8) != 0
               && columns::type_of(rows.view(6), rows.number(7)).has_value();
  }
  if (key == last.key) {
    result.damaged = last.damaged;
    return result;
  }
  std::string rest;
  auto append = [&](std::int64_t blob) {
    auto rows = read_blob_.bind(1, blob).rows();
    if (rows.next())
      rest += rows.view(0);
    else
      result.damaged = damage_kind::missing;
  };
  auto append_member = [&](const char* name, std::int64_t blob) {
    if (blob == 0)
      return;
    const auto size = rest.size();
    if (position.length != 0 || size != 0)
      rest += ',';
    rest += name;
    const auto begin = rest.size();
    append(blob);
    if (std::string_view{rest}.substr(begin) == "null")
      rest.resize(size); // like an empty optional
  };
  sha256 hash;
  try {
    if (form == static_cast<std::int64_t>(state_form::plain)) {
      if (custom != 0)
        append(custom);
      else
        rest = "null";
    } else {
      result.damaged = verify(position, last);
      hash = last.hash;
      if (position.length != 0)
        hash.update("]");
      append_member(R"("custom":)", custom);
      append_member(R"("artifacts":)", artifacts);
      rest += '}';
    }
    hash.update(rest);
    last.bytes += rest.size();
    if (!result.damaged && (!is_whole || hash.hex() != result.id.str()))
      result.damaged = damage_kind::corrupt;
  } catch (const status_error& x) {
    // SQLite cannot read a row. That must not hide damage to the rows after it.
    if (x.code() != errc::data_loss)
      throw;
    last.where = {};
    result.damaged = damage_kind::corrupt;
  }
  last.key = key;
  last.damaged = result.damaged;
  return result;
}

} // namespace tertulia
