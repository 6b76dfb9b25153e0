// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/interrupt.hpp>
#include <tertulia/ai/tool_context.hpp>
#include <tertulia/input.hpp>

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

} // namespace

task<json> tool_context::interrupt(json question) const {
  return next_answer(*this, std::move(question));
}

} // namespace tertulia::ai
