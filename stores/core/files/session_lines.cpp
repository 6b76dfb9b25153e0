// SPDX-License-Identifier: BSD-3-Clause

#include "session_lines.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <istream>
#include <utility>

#include <fmt/format.h>

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
    if (now.artifacts() == before.artifacts())
      to.same.emplace_back("artifacts");
    else
      to.artifacts = now.artifacts().to_vector();
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
  auto artifacts = is_same("artifacts")
                     ? before.artifacts()
                     : ai::artifact_list{std::move(x.artifacts)};
  auto log = before.messages().prefix(x.keep);
  return state::conversation(log.with(std::move(x.messages)), std::move(custom),
                             std::move(artifacts), type);
}

// -- writing ------------------------------------------------------------------

void line_writer::write_text(std::string text) {
  text += '\n';
  hash_.update(text);
  if (text_.empty())
    text_ = std::move(text);
  else
    text_ += text;
}

// -- reading ------------------------------------------------------------------

void line_reader::next() {
  if (number_ != 0) {
    hash_.update(text_);
    hash_.update("\n");
  }
  ++number_;
  if (!read_line())
    reject(errc::data_loss, "the file ends before the session does");
}

void line_reader::expect_end() {
  ++number_;
  if (read_line())
    reject(errc::data_loss, "something follows the end of the session");
}

bool line_reader::read_line() {
  text_.clear();
  std::array<char, 65'536> part{};
  for (;;) {
    from_.getline(part.data(), part.size());
    const auto n = static_cast<std::size_t>(from_.gcount());
    const auto is_end = from_.good(); // n includes the line break
    text_.append(part.data(), n - (is_end ? 1 : 0));
    if (text_.size() > max_line_)
      reject(errc::data_loss,
             fmt::format("is longer than {} bytes", max_line_));
    if (is_end)
      return true;
    if (from_.eof() || from_.bad() || n == 0)
      return n != 0 && !from_.bad();
    from_.clear(); // the line continues
  }
}

void line_reader::reject(std::uint64_t line, errc code,
                         const std::string& reason) {
  throw status_error{code, fmt::format("line {}: {}", line, reason),
                     json::object({{"line", line}}).dump()};
}

} // namespace tertulia::session_lines
