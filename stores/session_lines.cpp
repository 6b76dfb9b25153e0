// SPDX-License-Identifier: BSD-3-Clause

#include "session_lines.hpp"

#include <algorithm>
#include <cstddef>
#include <istream>
#include <memory>
#include <ostream>
#include <utility>

namespace tertulia::session_lines {

void tell(news& to, const state& before, const state& now) {
  to.form = now.form();
  const auto& log = now.messages();
  const auto& old = before.messages();
  std::size_t keep = log.shared_with(old);
  if (const auto size = std::min(log.size(), old.size()); keep < size) {
    const auto ours = log.from(keep);
    const auto theirs = old.from(keep);
    for (auto a = ours.begin(), b = theirs.begin(); keep < size && *a == *b;
         ++a, ++b)
      ++keep;
  }
  to.keep = keep;
  for (const auto& x : log.from(keep))
    to.messages.push_back(x);
  if (now.custom()) {
    if (now.custom() == before.custom())
      to.same.emplace_back("custom");
    else
      to.custom = parse_json<json>(now.custom().text());
  }
  if (!now.artifacts().empty()) {
    if (now.shared_artifacts() == before.shared_artifacts()
        || now.artifacts() == before.artifacts())
      to.same.emplace_back("artifacts");
    else
      to.artifacts = now.artifacts();
  }
}

state follow(const state& before, news x, const stored_type& type) {
  if (x.keep > before.messages().size())
    throw status_error{errc::invalid_argument,
                       "$.keep: is more than there is before"};
  const auto is_same = [&](const char* what) {
    return std::find(x.same.begin(), x.same.end(), what) != x.same.end();
  };
  payload custom;
  if (is_same("custom"))
    custom = before.custom();
  else if (!x.custom.is_null())
    custom = payload::encoded(to_json_text(x.custom));
  if (x.form == state_form::plain)
    return state::plain(std::move(custom), type);
  artifact_list artifacts;
  if (is_same("artifacts"))
    artifacts = before.shared_artifacts();
  else if (!x.artifacts.empty())
    artifacts = std::make_shared<const std::vector<ai::artifact>>(
      std::move(x.artifacts));
  auto log = before.messages().prefix(x.keep);
  return state::conversation(log.with(std::move(x.messages)), std::move(custom),
                             std::move(artifacts), type);
}

// -- writing ------------------------------------------------------------------

void line_writer::write_text(std::string text) {
  text += '\n';
  hash_.update(text);
  to_.write(text.data(), static_cast<std::streamsize>(text.size()));
  check();
}

void line_writer::flush() {
  to_.flush();
  check();
}

void line_writer::check() {
  if (!to_)
    throw status_error{errc::unavailable, "the file takes no more"};
}

// -- reading ------------------------------------------------------------------

void line_reader::next() {
  if (number_ != 0) {
    hash_.update(text_);
    hash_.update("\n");
  }
  ++number_;
  if (!std::getline(from_, text_))
    reject(errc::data_loss, "the file ends before the session does");
}

void line_reader::expect_end() {
  ++number_;
  std::string more;
  if (std::getline(from_, more))
    reject(errc::data_loss, "something follows the end of the session");
}

void line_reader::reject(errc code, const std::string& why) const {
  throw status_error{code, "line " + std::to_string(number_) + ": " + why,
                     json::object({{"line", number_}}).dump()};
}

} // namespace tertulia::session_lines
