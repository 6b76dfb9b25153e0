// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/caller.hpp>
#include <tertulia/detail/client_verbs.hpp>
#include <tertulia/detail/decline.hpp>
#include <tertulia/detail/open_nested.hpp>
#include <tertulia/status.hpp>

namespace tertulia::detail {

task<std::unique_ptr<nested_connection>>
open_nested(context ctx, front_desk_actor desk, open_request request,
            std::shared_ptr<const action> action,
            std::shared_ptr<way_back> way) {
  auto& at = detail::access::owner(ctx);
  const auto within = request.options.open_within;
  if (desk.node() != at.self()->node())
    request.seal();
  request.client = chunk_sink{at.self()};
  request.client_number = new_client_number();
  request.session = at.link();
  if (!request.options.caller)
    request.options.caller = at.caller();
  if (*request.options.caller && request.options.session)
    request.options.session
      = session_of(*request.options.caller, request.options.session);
  if (const auto* parent = ctx.trace().context();
      parent != nullptr && request.options.trace_parent.empty()) {
    request.options.trace_parent = parent->to_traceparent();
    request.options.trace_state = parent->state;
  }
  // The messages of a connection are told apart by their sender, and a second
  // reader would take the place of the first one.
  if (const auto& what = request.options.attach;
      what && at.reads(*what, request.key, request.options.session))
    throw status_error{errc::failed_precondition,
                       "the body has a connection to this run already"};
  client_end end{request};
  auto key = request.key;
  const auto question = way ? request : open_request{};
  const auto first = co_await ctx.ask(desk, within, std::move(request));
  if (at.monitors(first.connection.address())) {
    decline(first);
    throw status_error{errc::failed_precondition,
                       "the body has a connection to this run already"};
  }
  auto result = std::make_unique<nested_connection>(
    at, first, std::move(end), std::move(key), std::move(action));
  if (way && first.attached.run)
    result->come_back_by(std::move(way), question);
  co_return result;
}

} // namespace tertulia::detail
