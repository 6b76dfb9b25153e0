// SPDX-License-Identifier: BSD-3-Clause

#include "documents.hpp"

#include <tertulia/json.hpp>
#include <tertulia/status.hpp>

#include "shown_text.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

void mend(std::string& x) {
  x = as_utf8(x);
}

template <class Kind>
void mend(identifier<Kind>& x) {
  x = identifier<Kind>{as_utf8(x.str())};
}

template <class... Ts>
void mend_all(Ts&... xs) {
  (mend(xs), ...);
}

template <class T>
document parsed(const T& x) {
  return detail::parse_ordered_document(to_json_text(x));
}

} // namespace

document document_in(std::string_view text) {
  try {
    return detail::parse_ordered_document(text);
  } catch (const status_error&) {
    return document(as_utf8(text));
  }
}

document document_of(session_info x) {
  mend_all(x.agent, x.id, x.title, x.preview);
  return parsed(x);
}

document document_of(snapshot_record x) {
  mend_all(x.agent, x.session, x.id, x.parent_id, x.note);
  for (auto& label : x.labels)
    mend(label);
  return parsed(x);
}

document document_of(damage x) {
  mend_all(x.where.agent, x.where.id, x.what);
  return parsed(x);
}

document document_of(const state& x) {
  const auto text = x.text();
  try {
    return text.empty() ? document{} : detail::parse_ordered_document(text);
  } catch (const status_error& failure) { // foreign content with a valid hash
    throw status_error{errc::data_loss,
                       fmt::format("the state cannot be shown: {}",
                                   failure.message())};
  }
}

std::string text_of(const document& x) {
  return shown_json(x.dump(-1, ' ', false, document::error_handler_t::replace));
}

std::string pretty_text_of(const document& x) {
  return shown_json(x.dump(2, ' ', false, document::error_handler_t::replace));
}

} // namespace tertulia::tool
