// SPDX-License-Identifier: BSD-3-Clause

#include "redaction.hpp"

#include <utility>

#include "error_body.hpp"

namespace tertulia::web {

redaction::redaction(const http_server_options& options, std::string caller,
                     std::string key) {
  if (!options.redact)
    return;
  change_ = options.redact;
  caller_ = std::move(caller);
  key_ = std::move(key);
}

void redaction::apply(outgoing_kind kind, json& x) const {
  try {
    change_({caller_, key_, kind}, x);
  } catch (...) {
    throw status_error{errc::internal, "the answer is withheld"};
  }
}

std::string redaction::text(outgoing_kind kind, json x) const {
  if (change_)
    apply(kind, x);
  return line_of(x);
}

std::string redaction::text(outgoing_kind kind, std::string x) const {
  return change_ ? text(kind, parse_json<json>(x)) : std::move(x);
}

std::string redaction::chunks(std::string x) const {
  if (!change_)
    return x;
  auto all = parse_json<json>(x);
  for (auto& one : all)
    apply(outgoing_kind::chunk, one);
  return line_of(all);
}

outgoing_error redaction::error(errc code, json document) const {
  try {
    return {code, text(outgoing_kind::error, std::move(document))};
  } catch (const status_error& withheld) {
    return {withheld.code(), error_text(withheld)};
  }
}

outgoing_error redaction::error(const status_error& x) const {
  return error(x.code(), error_document(x));
}

} // namespace tertulia::web
