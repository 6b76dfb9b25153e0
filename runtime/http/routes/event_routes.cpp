// SPDX-License-Identifier: BSD-3-Clause

#include <charconv>
#include <utility>

#include "router.hpp"
#include "run_stream.hpp"
#include "talk/open_body.hpp"

namespace tertulia::web {

// A client that comes back names the last event that it has heard: its id is
// the number in the log of what follows.
net::awaitable<void> stream_events(server_core& server, exchange& x,
                                   std::string key) {
  auto body = target_of(x.place);
  if (is_guest(body, x))
    throw status_error{errc::invalid_argument,
                       "owner: a caller listens to its own runs only"};
  body.attach = true;
  body.role = client_role::listener;
  body.after = x.place.number("after");
  if (const auto last = field_of(x.request, "Last-Event-ID"); !last.empty()) {
    std::uint64_t number = 0;
    const auto* end = last.data() + last.size();
    const auto [rest, problem] = std::from_chars(last.data(), end, number);
    if (problem != std::errc{} || rest != end)
      throw status_error{errc::invalid_argument,
                         "Last-Event-ID: is not a number"};
    body.after = number;
  }
  auto terms = open_terms_of(body, server, x, key, true);
  run_stream run{server, x, server.find(key), std::move(terms)};
  if (co_await run.wait_until_open())
    co_await write_events(x, run);
}

} // namespace tertulia::web
