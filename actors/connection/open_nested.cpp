// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/open_nested.hpp>

namespace tertulia::detail {

task<std::unique_ptr<nested_connection>>
open_nested(context ctx, front_desk_actor desk, open what_to,
            caf::timespan within, std::shared_ptr<const action> what) {
  auto& at = detail::access::owner(ctx);
  const auto window = what_to.options.chunk_window;
  if (desk.node() != at.self()->node())
    what_to.init = what_to.init.sealed();
  what_to.client = chunk_sink{at.self()};
  what_to.session = at.link();
  if (const auto* parent = ctx.trace().context();
      parent != nullptr && what_to.options.trace_parent.empty())
    what_to.options.trace_parent = parent->to_traceparent();
  const auto first = co_await ctx.ask(desk, within, std::move(what_to));
  co_return std::make_unique<nested_connection>(at, first.connection, first,
                                                window, std::move(what));
}

} // namespace tertulia::detail
