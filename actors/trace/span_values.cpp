// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/span_values.hpp>
#include <tertulia/detail/text.hpp>
#include <tertulia/json.hpp>

#include <string>

namespace tertulia::detail {

void span_values::put(span& to, std::string_view attribute,
                      std::string text) const {
  if (redact_) {
    auto value = parse_json<json>(text);
    redact_(attribute, value);
    text = to_json_text(value);
  }
  if (text.size() > max_) {
    text.resize(first_bytes(text, max_).size());
    text += "…";
  }
  to.set_attribute(attribute, text);
}

} // namespace tertulia::detail
