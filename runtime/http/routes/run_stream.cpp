// SPDX-License-Identifier: BSD-3-Clause

#include "run_stream.hpp"

#include <utility>

#include "message/error_body.hpp"

namespace tertulia::web {

namespace {

/// Pause after which an event stream without events shows that it is alive.
constexpr auto heartbeat = std::chrono::seconds{15};

void append_event(std::string& to, const frame& x) {
  to += "event: ";
  to += name_of(x.kind);
  if (x.kind != frame_kind::refusal) {
    to += "\nid: ";
    to += std::to_string(x.next);
  }
  to += "\ndata: ";
  to += x.text;
  to += "\n\n";
}

} // namespace

bool is_kept_run(const open_terms& terms, const exchange& x) {
  const auto result
    = terms.options.attach || terms.options.disconnect == on_disconnect::keep;
  if (result && x.is_draining())
    throw status_error{errc::unavailable, "the server is stopping"};
  return result;
}

run_stream::run_stream(server_core& server, exchange& x,
                       const json_action& action,
                       std::unique_ptr<open_terms> terms)
  : exchange_(x), reader_(x.executor()), is_kept_(is_kept_run(*terms, x)),
    client_(server.actions().system(), action, std::move(terms),
            reader_.source()) {
  x.when_draining = [this] {
    if (is_kept_)
      client_.leave_after_turn();
    else
      client_.close();
  };
  x.when_gone([this] { client_.leave(); });
  if (x.is_draining()) // since its request was read
    x.when_draining();
}

run_stream::~run_stream() {
  exchange_.when_draining = nullptr;
  exchange_.when_gone(nullptr);
  if (has_ended_ && !is_kept_)
    client_.drop();
}

net::awaitable<bool> run_stream::open() {
  std::vector<frame> frames;
  if (co_await reader_.take(frames) != channel_reader<frame>::outcome::items)
    throw status_error{errc::unavailable, "the run was left"};
  count(frames);
  opened_ = std::move(frames.front());
  // A refused input may come before the answer to the opening.
  if (opened_.kind != frame_kind::opened) {
    client_.cancel();
    co_return false;
  }
  frames.erase(frames.begin());
  first_ = std::move(frames);
  co_return true;
}

net::awaitable<bool> run_stream::wait_until_open() {
  const auto is_open = co_await open();
  if (!is_open)
    co_await exchange_.reply(error_response(opened_.code, opened_.text));
  co_return is_open;
}

net::awaitable<channel_reader<frame>::outcome>
run_stream::take(std::vector<frame>& frames, clock::time_point until) {
  if (!first_.empty()) {
    frames = std::exchange(first_, {});
    co_return channel_reader<frame>::outcome::items;
  }
  if (taken_ > talk::room / 2) { // all of which was written meanwhile
    taken_ = 0;
    client_.drained();
  }
  const auto result = co_await reader_.take(frames, until);
  count(frames);
  co_return result;
}

void run_stream::count(const std::vector<frame>& frames) noexcept {
  for (const auto& x : frames) {
    taken_ += size_of(x);
    has_ended_ = has_ended_ || is_last(x.kind);
  }
}

net::awaitable<void> write_events(exchange& x, run_stream& run) {
  std::string text;
  append_event(text, run.opened());
  if (!co_await x.begin(event_stream_head()) || !co_await x.write(text))
    co_return;
  if (x.request.method() == http::verb::head)
    co_return; // nothing of the run is for this client
  std::vector<frame> frames;
  for (;;) {
    const auto outcome = co_await run.take(frames, clock::now() + heartbeat);
    if (outcome == channel_reader<frame>::outcome::end)
      break;
    text.clear();
    for (const auto& one : frames)
      append_event(text, one);
    if (frames.empty())
      text = ":\n\n";
    if (!co_await x.write(text))
      co_return;
  }
  co_await x.end();
}

} // namespace tertulia::web
