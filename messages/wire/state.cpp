// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/state.hpp>

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tertulia {

namespace {

constexpr std::string_view before_messages = R"({"messages":[)";
constexpr std::string_view before_custom = R"("custom":)";
constexpr std::string_view before_artifacts = R"("artifacts":)";

} // namespace

state state::plain(payload value, stored_type type) {
  state result;
  result.type_ = std::move(type);
  result.custom_ = std::move(value);
  return result;
}

state state::conversation(ai::message_log messages, payload custom,
                          ai::artifact_list artifacts, stored_type type) {
  state result;
  result.type_ = std::move(type);
  result.form_ = state_form::conversation;
  result.messages_ = std::move(messages);
  result.custom_ = std::move(custom);
  result.artifacts_ = std::move(artifacts);
  return result;
}

// -- changed copies -----------------------------------------------------------

state state::with_messages(ai::message_log x) const {
  auto result = *this;
  result.messages_ = std::move(x);
  return result;
}

state state::with_custom(payload x) const {
  auto result = *this;
  result.custom_ = std::move(x);
  return result;
}

state state::with_type(stored_type x) const {
  auto result = *this;
  result.type_ = std::move(x);
  return result;
}

state state::with_artifacts(ai::artifact_list x) const {
  auto result = *this;
  result.artifacts_ = std::move(x);
  return result;
}

state state::with_artifact(ai::artifact x) const {
  return with_artifacts(artifacts_.with(std::move(x)));
}

// -- canonical JSON -----------------------------------------------------------

void state::append_rest(std::string& to) const {
  auto separate = [&] {
    if (to.back() != '{')
      to += ',';
  };
  if (custom_) {
    const auto size = to.size();
    separate();
    to += before_custom;
    const auto begin = to.size();
    to += custom_.text();
    if (std::string_view{to}.substr(begin) == "null")
      to.resize(size); // left out, as an empty optional
  }
  if (!artifacts_.empty()) {
    separate();
    to += before_artifacts;
    append_json_text(to, artifacts_);
  }
  to += '}';
}

void state::append_text(std::string& to) const {
  if (form_ == state_form::plain) {
    to += custom_ ? custom_.text() : "null";
    return;
  }
  if (messages_.empty()) {
    to += '{';
  } else {
    to += before_messages;
    auto first = true;
    for (const auto& x : messages_) {
      if (!std::exchange(first, false))
        to += ',';
      append_json_text(to, x);
    }
    to += ']';
  }
  append_rest(to);
}

std::string state::text() const {
  std::string result;
  append_text(result);
  return result;
}

state_id state::id() const {
  sha256 hash;
  std::string rest;
  if (form_ == state_form::plain) {
    append_text(rest);
  } else {
    if (messages_.empty()) {
      rest += '{';
    } else {
      hash = messages_.digest();
      rest += ']';
    }
    append_rest(rest);
  }
  hash.update(rest);
  return state_id{hash.hex()};
}

bool state::same_as(const state& x) const noexcept {
  return form_ == x.form_ && type_ == x.type_ && messages_.same_as(x.messages_)
         && custom_.same_as(x.custom_) && artifacts_.same_as(x.artifacts_);
}

// -- between processes --------------------------------------------------------

encoded_state::encoded_state(const state& x)
  : form(static_cast<std::uint8_t>(x.form())), custom(x.custom().text()),
    type_name(x.type().name()), type_version(x.type().version()) {
  if (!x.messages().empty())
    messages = to_json_text(x.messages());
  if (!x.artifacts().empty())
    artifacts = to_json_text(x.artifacts());
}

state encoded_state::decode() const {
  auto value = custom.empty() ? payload{} : payload::encoded(custom);
  stored_type type{type_name, type_version};
  if (form == static_cast<std::uint8_t>(state_form::plain))
    return state::plain(std::move(value), std::move(type));
  if (form != static_cast<std::uint8_t>(state_form::conversation))
    throw status_error{errc::invalid_argument,
                       fmt::format("a state of the unknown form {}", form)};
  ai::message_log log;
  if (!messages.empty())
    log = parse_json<ai::message_log>(messages);
  ai::artifact_list list;
  if (!artifacts.empty())
    list = parse_json<ai::artifact_list>(artifacts);
  return state::conversation(std::move(log), std::move(value), std::move(list),
                             std::move(type));
}

} // namespace tertulia
