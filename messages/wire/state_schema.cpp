// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/state_schema.hpp>
#include <tertulia/json.hpp>

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace tertulia::detail {

namespace {

[[noreturn]] void reject_step(std::uint32_t from, std::string_view why) {
  throw status_error{errc::invalid_argument,
                     fmt::format("the migration from version {} {}", from, why),
                     json::object({{"from", from}}).dump()};
}

/// Throws an error that names the step that has failed.
[[noreturn]] void reject_value(const stored_type& known, std::uint32_t from,
                               const status_error& reason) {
  const auto name
    = known.name().empty() ? "" : fmt::format("of \"{}\" ", known.name());
  throw status_error{
    reason.code(),
    fmt::format("the migration {}from version {} to {} failed: {}", name, from,
                from + 1, reason.message()),
    json::object({{"known", to_json(known)}, {"step", from}}).dump()};
}

} // namespace

state_schema::state_schema(stored_type known, std::vector<migration> steps)
  : known_(std::move(known)), oldest_(known_.version()) {
  std::sort(steps.begin(), steps.end(),
            [](const auto& x, const auto& y) { return x.from < y.from; });
  auto next = steps.empty() ? oldest_ : steps.front().from;
  oldest_ = next;
  for (auto& x : steps) {
    if (x.from == 0)
      reject_step(x.from, "begins before version 1, which is the first");
    if (x.from >= known_.version())
      reject_step(x.from,
                  fmt::format("leads beyond the version of the type, which is "
                              "{}",
                              known_.version()));
    if (!x.step)
      reject_step(x.from, "is not a function");
    if (x.from < next)
      reject_step(x.from, "is given twice");
    if (x.from > next)
      reject_step(next, "is missing");
    steps_.push_back(std::move(x.step));
    ++next;
  }
  if (next != known_.version())
    reject_step(next, "is missing");
}

void state_schema::check(const stored_type& stored) const {
  if (stored.version() > known_.version() || are_strangers(stored, known_)
      || stored.version() < oldest_)
    reject_type(stored, known_, stored.version());
}

state state_schema::adopt(state stored) const {
  if (stored.type() == known_)
    return stored;
  check(stored.type());
  if (stored.type().version() < known_.version() && stored.custom()) {
    auto value = stored.custom().to_json();
    auto from = stored.type().version();
    std::string text;
    try {
      for (; from < known_.version(); ++from)
        steps_[from - oldest_](value);
      text = to_json_text(value);
    } catch (...) {
      // If the final value has no JSON, the last step is at fault.
      reject_value(known_, std::min(from, known_.version() - 1),
                   to_status(current_exception_to_error()));
    }
    stored = stored.with_custom(payload::encoded(std::move(text)));
  }
  return stored.with_type(known_);
}

} // namespace tertulia::detail
