// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/interrupt.hpp>
#include <tertulia/ai/tool_context.hpp>
#include <tertulia/input.hpp>
#include <tertulia/output.hpp>

#include <utility>

namespace tertulia::ai {

namespace {

task<json> next_answer(context ctx, json question) {
  const auto answers
    = detail::access::make<input<json>>(detail::access::owner(ctx));
  auto reply = co_await answers.next();
  if (!reply)
    throw interrupt_error(question);
  co_return std::move(*reply);
}

task<> send_report(context ctx, json value) {
  tertulia::detail::send_chunk<json> pending{
    tertulia::detail::access::owner(ctx), std::move(value)};
  co_await std::move(pending);
}

} // namespace

task<> tool_context::report(json value) const {
  return send_report(*this, std::move(value));
}

const std::string& tool_context::call_id() const noexcept {
  return tertulia::detail::access::owner(*this).call_id();
}

task<json> tool_context::interrupt(json question) const {
  return next_answer(*this, std::move(question));
}

} // namespace tertulia::ai
