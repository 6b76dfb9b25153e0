// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/payload.hpp>

namespace tertulia {

namespace detail {

encoded_box::encoded_box(std::string text)
  : boxed(&operations_of), text(std::move(text)) {}

const boxed::operations encoded_box::operations_of{
  [](const boxed& x, std::string& out) {
    out += static_cast<const encoded_box&>(x).text;
  },
  [](const boxed& x) {
    return parse_json<json>(static_cast<const encoded_box&>(x).text);
  }};

} // namespace detail

payload payload::encoded(std::string text) {
  return payload{caf::make_counted<detail::encoded_box>(std::move(text))};
}

json payload::to_json() const {
  if (!content_)
    throw status_error{errc::invalid_argument,
                       "$: expected a value, found none"};
  return content_->ops->to_json(*content_);
}

std::string payload::text() const {
  std::string result;
  if (content_)
    content_->ops->write(*content_, result);
  return result;
}

} // namespace tertulia
