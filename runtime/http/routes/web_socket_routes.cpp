// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>

#include <memory>
#include <utility>

#include "message/error_body.hpp"
#include "message/redaction.hpp"
#include "router.hpp"
#include "run_stream.hpp"
#include "talk/open_body.hpp"
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <fmt/format.h>

// Messages of a WebSocket, each a JSON object with one member that says what it
// is. From the client: `open` (first), `input`, `close`, `cancel`, `detach`.
// From the server: the names of the frames, with `next` beside them.

namespace tertulia::web {

namespace {

constexpr std::uint16_t normal_closure = 1000;
constexpr std::uint16_t going_away = 1001;
constexpr std::uint16_t not_understood = 1003;
constexpr std::uint16_t policy_violation = 1008;
/// Of this protocol, so that only the answer of a client repeats it.
constexpr std::uint16_t run_has_ended = 4000;

std::string message_of(const frame& x) {
  std::string result = "{\"";
  result += name_of(x.kind);
  result += "\":";
  result += x.text;
  if (x.kind != frame_kind::refusal) {
    result += ",\"next\":";
    result += std::to_string(x.next);
  }
  result += '}';
  return result;
}

/// State of a WebSocket, for its reader and its writer.
struct web_socket_talk {
  web_socket_talk(std::unique_ptr<web_socket> socket,
                  const net::any_io_executor& executor)
    : socket(std::move(socket)), frames(executor) {}

  std::unique_ptr<web_socket> socket;
  channel_reader<frame> frames;
  // With which the writer ends the WebSocket.
  std::uint16_t code = normal_closure;
  std::string reason{};
};

/// Writes the frames of a run until there is no further one.
net::awaitable<void> write_all(std::shared_ptr<web_socket_talk> of,
                               std::weak_ptr<talk> client) {
  std::vector<frame> frames;
  while (co_await of->frames.take(frames)
         == channel_reader<frame>::outcome::items) {
    for (const auto& x : frames) {
      if (!co_await of->socket->write(message_of(x)))
        co_return;
      if (is_last(x.kind) && of->code == normal_closure)
        of->code = run_has_ended;
    }
    if (const auto run = client.lock())
      run->drained();
  }
  co_await of->socket->close(of->code, of->reason);
}

/// Opens a run. Not in the coroutine, which lives as long as its WebSocket and
/// would keep the room for all of this.
/// @errors throws `invalid_argument`, and those of `open_terms_of` and
///         `is_kept_run`.
std::shared_ptr<talk> open_run_of(server_core& server, exchange& x,
                                  const std::string& key, const json& open,
                                  const std::shared_ptr<web_socket_talk>& of) {
  auto body = from_json<open_body>(open);
  auto terms = open_terms_of(body, server, x, key, true);
  const auto is_kept = is_kept_run(*terms, x);
  auto result
    = std::make_shared<talk>(server.actions().system(), server.find(key),
                             std::move(terms), of->frames.source());
  x.when_draining
    = [run = std::weak_ptr{result}, weak = std::weak_ptr{of}, is_kept] {
        if (const auto socket = weak.lock())
          socket->code = going_away;
        if (const auto client = run.lock())
          is_kept ? client->leave_after_turn() : client->close();
      };
  return result;
}

/// Closes a WebSocket whose client has not opened a run.
net::awaitable<void> close_unused(std::shared_ptr<web_socket_talk> of) {
  co_await of->socket->close(going_away, {});
}

/// Does what a message of the client says.
/// @errors throws `invalid_argument`.
void handle(const talk& run, const json& message) {
  if (!message.is_object() || message.size() != 1)
    throw status_error{errc::invalid_argument,
                       "$: is not an object with one member"};
  const auto& name = message.begin().key();
  if (name == "input") {
    run.send(payload::of(message.front()));
  } else if (name == "close") {
    run.close();
  } else if (name == "cancel") {
    run.cancel();
  } else if (name == "detach") {
    run.leave();
  } else {
    throw status_error{errc::invalid_argument,
                       fmt::format("$.{}: is not known here", name)};
  }
}

} // namespace

net::awaitable<void> talk_by_web_socket(server_core& server, exchange& x,
                                        std::string key) {
  static_cast<void>(server.find(key));
  auto socket = co_await x.upgrade();
  if (!socket)
    co_return;
  const auto shared
    = std::make_shared<web_socket_talk>(std::move(socket), x.executor());
  x.when_draining = [executor = x.executor(), weak = std::weak_ptr{shared}] {
    if (auto unused = weak.lock())
      net::co_spawn(executor, close_unused(std::move(unused)), net::detached);
  };
  if (x.is_draining())
    x.when_draining();
  std::optional<status_error> failure;
  std::shared_ptr<talk> run;
  std::size_t sent = 0; // bytes since the run took all
  try {
    while (const auto text = co_await shared->socket->read()) {
      const auto message = read_document(*text);
      if (run) {
        handle(*run, message);
        sent += text->size();
        if (sent > talk::room) {
          sent = 0;
          co_await run->wait_until_taken(x.executor());
        }
        continue;
      }
      if (!message.is_object() || message.size() != 1
          || !message.contains("open"))
        throw status_error{errc::invalid_argument,
                           "$: the first message must open a run"};
      run = open_run_of(server, x, key, message.at("open"), shared);
      net::co_spawn(x.executor(), write_all(shared, run), net::detached);
    }
  } catch (const status_error& error) {
    failure = error;
  } catch (const std::exception& error) {
    failure = status_error::unexpected(error.what());
  }
  x.when_draining = nullptr;
  if (failure) {
    shared->code = failure->code() == errc::unimplemented ? not_understood
                                                          : policy_violation;
    shared->reason = status_name(failure->code());
  }
  if (run) {
    // A client that answers the closing has read what came before it.
    if (shared->code == run_has_ended
        && shared->socket->closed_with() == run_has_ended)
      run->confirm();
    run->leave(); // ends the channel: the writer closes
  } else if (failure) {
    const redaction by{server.options(), x.caller, key};
    const auto text = "{\"error\":" + by.error(*failure).text + "}";
    if (co_await shared->socket->write(text))
      co_await shared->socket->close(shared->code, shared->reason);
  }
  x.forget_web_socket();
}

} // namespace tertulia::web
