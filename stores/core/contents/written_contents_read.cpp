// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <algorithm>
#include <string_view>

#include "stored_message.hpp"
#include "written_contents.hpp"

namespace tertulia {

state written_contents::load(const content_row& x, loaded* last) {
  const auto where = x.messages;
  loaded base;
  if (last != nullptr && !last->log.empty()) {
    base.where = branches_.common(where, last->where);
    base.log = last->log.prefix(base.where.length);
  }
  const auto value = [&](std::int64_t key) {
    auto found = tables_.find_value(key);
    if (!found)
      rules::reject_missing(x.id);
    return std::move(found->text);
  };
  try {
    std::vector<ai::message> messages;
    messages.reserve(
      std::min<std::uint64_t>(where.length - base.where.length, 1u << 20u));
    const auto found = branches_.for_each_text(
      where,
      [&](std::string_view text) {
        messages.push_back(read_stored_message(text));
        return true;
      },
      base.where.length);
    if (found != where.length)
      rules::reject_missing(x.id);
    auto custom = x.custom != 0 ? payload::encoded(value(x.custom)) : payload{};
    state result;
    if (x.form == state_form::plain) {
      result = state::plain(std::move(custom), x.type);
    } else {
      ai::artifact_list artifacts;
      if (x.artifacts != 0)
        artifacts = parse_json<ai::artifact_list>(value(x.artifacts));
      auto log = base.log.empty() ? ai::message_log{std::move(messages)}
                                  : base.log.with(std::move(messages));
      result = state::conversation(std::move(log), std::move(custom),
                                   std::move(artifacts), x.type);
    }
    if (result.id() == x.id) {
      if (last != nullptr)
        *last = {where, result.messages()};
      return result;
    }
  } catch (const status_error& error) {
    if (error.code() != errc::invalid_argument)
      throw;
    // text that is no longer valid JSON is corrupt
  }
  rules::reject_corrupt(x.id);
}

std::optional<damage_kind> written_contents::verify(log_place x,
                                                    verifier& last) {
  if (last.where.branch != x.branch || last.where.length > x.length
      || x.branch == 0) {
    last.where = {x.branch, 0};
    last.hash = {};
    last.hash.update(x.length != 0 ? R"({"messages":[)" : "{");
  }
  const auto end = branches_.for_each_text(
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

std::optional<damage_kind> written_contents::verify(const content_row& x,
                                                    verifier& last) {
  if (x.is_same_state(last.content) && x.messages == last.content.messages
      && x.custom == last.content.custom
      && x.artifacts == last.content.artifacts)
    return last.damaged;
  std::optional<damage_kind> damaged;
  std::string rest;
  const auto append = [&](std::int64_t value) {
    if (const auto found = tables_.find_value(value))
      rest += found->text;
    else
      damaged = damage_kind::missing;
  };
  const auto append_member = [&](const char* name, std::int64_t value) {
    if (value == 0)
      return;
    const auto size = rest.size();
    if (x.messages.length != 0 || size != 0)
      rest += ',';
    rest += name;
    const auto begin = rest.size();
    append(value);
    if (std::string_view{rest}.substr(begin) == "null")
      rest.resize(size); // like an empty optional
  };
  sha256 hash;
  try {
    if (x.form == state_form::plain) {
      if (x.custom != 0)
        append(x.custom);
      else
        rest = "null";
    } else {
      damaged = verify(x.messages, last);
      hash = last.hash;
      if (x.messages.length != 0)
        hash.update("]");
      append_member(R"("custom":)", x.custom);
      append_member(R"("artifacts":)", x.artifacts);
      rest += '}';
    }
    hash.update(rest);
    last.bytes += rest.size();
    if (!damaged && hash.hex() != x.id.str())
      damaged = damage_kind::corrupt;
  } catch (const status_error& error) {
    // The engine cannot read a row. That must not hide damage to the rows after
    // it.
    if (error.code() != errc::data_loss)
      throw;
    last.where = {};
    damaged = damage_kind::corrupt;
  }
  last.content = x;
  last.damaged = damaged;
  return damaged;
}

} // namespace tertulia
