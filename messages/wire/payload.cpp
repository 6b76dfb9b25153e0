// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/text.hpp>
#include <tertulia/json.hpp>
#include <tertulia/payload.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace tertulia {

namespace detail {

encoded_box::encoded_box(std::string text)
  : boxed(&operations_of), text(std::move(text)) {}

const boxed::operations encoded_box::operations_of{
  [](const boxed& x, std::string& out) {
    out += static_cast<const encoded_box&>(x).text;
  },
  [](const boxed&) { return sizeof(encoded_box); },
  [](const boxed& x, std::size_t first,
     std::size_t count) -> caf::intrusive_ptr<boxed> {
    const auto list = parse_document(static_cast<const encoded_box&>(x).text);
    if (!list.is_array() || list.size() < count || list.size() - count < first)
      return nullptr;
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first);
    return caf::make_counted<encoded_box>(
      to_json_text(json(begin, begin + static_cast<std::ptrdiff_t>(count))));
  }};

namespace {

/// Returns whether a document is the same after it was written and read: then
/// it can be read without that. A float that is an integer becomes one, and an
/// integer that is not negative an unsigned one.
bool survives_text(const json& x, std::size_t depth = 0) {
  const auto survives
    = [depth](const json& part) { return survives_text(part, depth + 1); };
  switch (x.type()) {
    case json::value_t::string: return is_utf8(x.get_ref<const std::string&>());
    case json::value_t::number_float: {
      const auto number = x.get_ref<const double&>();
      return std::isfinite(number) && std::trunc(number) != number;
    }
    case json::value_t::number_integer:
      return x.get_ref<const std::int64_t&>() < 0;
    case json::value_t::array:
      return depth < max_json_depth
             && std::all_of(x.begin(), x.end(), survives);
    case json::value_t::object: {
      // Not `items`, which copies each name.
      const auto& all = x.get_ref<const json::object_t&>();
      return depth < max_json_depth
             && std::all_of(all.begin(), all.end(), [&](const auto& member) {
                  return is_utf8(member.first) && survives(member.second);
                });
    }
    case json::value_t::binary:
    case json::value_t::discarded: return false;
    default: return true;
  }
}

} // namespace

} // namespace detail

payload payload::encoded(std::string text) {
  return payload{caf::make_counted<detail::encoded_box>(std::move(text))};
}

json payload::to_json() const {
  if (!content_)
    throw status_error{errc::invalid_argument,
                       "$: expected a value, found none"};
  if (content_->ops == &detail::encoded_box::operations_of)
    return detail::parse_document(
      static_cast<const detail::encoded_box&>(*content_).text);
  return detail::parse_document(text());
}

const json* payload::held_document() const {
  const auto* held = get_if<json>();
  return held != nullptr && detail::survives_text(*held) ? held : nullptr;
}

std::shared_ptr<json> payload::document() const {
  return std::make_shared<json>(to_json());
}

payload payload::slice(std::size_t first, std::size_t count) const {
  auto part = content_ ? content_->ops->slice(*content_, first, count)
                       : caf::intrusive_ptr<detail::boxed>{};
  if (!part)
    throw status_error{errc::invalid_argument,
                       fmt::format("$: expected a list of at least {} elements",
                                   first + count)};
  return payload{std::move(part)};
}

std::size_t payload::footprint() const noexcept {
  if (!content_)
    return 0;
  // The text is measured and dropped: its memory is kept for the next one.
  thread_local std::string text;
  text.clear();
  try {
    content_->ops->write(*content_, text);
  } catch (...) { // NOLINT(bugprone-empty-catch): without text, its own size
  }
  const auto result = content_->ops->size(*content_) + text.size();
  if (text.capacity() > 65'536)
    text = {};
  return result;
}

std::string payload::text() const {
  std::string result;
  if (content_)
    content_->ops->write(*content_, result);
  return result;
}

} // namespace tertulia
