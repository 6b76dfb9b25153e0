// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/payload.hpp>

namespace tertulia {

namespace detail {

encoded_box::encoded_box(std::string text)
  : boxed(&operations_of), text(std::move(text)) {}

const boxed::operations encoded_box::operations_of{
  [](const boxed& x, std::string& out) {
    out += static_cast<const encoded_box&>(x).text;
  }};

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

std::shared_ptr<json> payload::document() const {
  return std::make_shared<json>(to_json());
}

std::string payload::text() const {
  std::string result;
  if (content_)
    content_->ops->write(*content_, result);
  return result;
}

} // namespace tertulia
