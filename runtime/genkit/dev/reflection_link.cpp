// SPDX-License-Identifier: BSD-3-Clause

#include "reflection_link.hpp"

#include <tertulia/status_error.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <string_view>
#include <utility>

#include "message/error_body.hpp"
#include "talk/open_body.hpp"
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <fmt/format.h>
#include <unistd.h>

namespace tertulia::web {

namespace {

namespace beast = boost::beast;
namespace websocket = beast::websocket;
using net::ip::tcp;

constexpr std::size_t max_message = std::size_t{30} * 1'024 * 1'024;

/// Number of messages that may wait to be written before a run is held back.
constexpr std::size_t max_waiting_messages = 64;

// Codes of JSON-RPC.
constexpr int no_method = -32'601;
constexpr int wrong_parameters = -32'602;
constexpr int failed = -32'000;

json result_of(const json& id, json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

json error_of(const json& id, int code, const std::string& message,
              json data = nullptr) {
  json error{{"code", code}, {"message", message}};
  if (!data.is_null())
    error["data"] = std::move(data);
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}};
}

json notification(const char* method, json parameters) {
  return {
    {"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(parameters)}};
}

json registration(const std::string& name) {
  json program{{"id", "1"},
               {"pid", ::getpid()},
               {"genkitVersion", reflection_program},
               {"reflectionApiSpecVersion", 1},
               {"envs", json::array({"dev"})}};
  if (!name.empty())
    program["name"] = name;
  return {{"jsonrpc", "2.0"},
          {"id", "register"},
          {"method", "register"},
          {"params", std::move(program)}};
}

std::string text_in(const json& x, const char* name) {
  const auto i = x.find(name);
  return i != x.end() && i->is_string() ? i->get<std::string>() : std::string{};
}

/// Connection to a command line.
///
/// @threads  those of its executor.
/// @lifetime shared with the runs that it has begun.
class cli_link : public std::enable_shared_from_this<cli_link> {
public:
  cli_link(reflection& of, const net::any_io_executor& executor)
    : reflection_(of), stream_(executor),
      room_(executor, clock::time_point::max()) {}

  /// Serves one connection until it is lost.
  /// @returns whether there was one.
  net::awaitable<bool> serve(const web_address& at, const std::string& name) {
    const auto executor = co_await net::this_coro::executor;
    tcp::resolver resolver{executor};
    const auto [unknown, places]
      = co_await resolver.async_resolve(at.host, at.port, as_result);
    if (unknown)
      co_return false;
    auto& socket = beast::get_lowest_layer(stream_);
    socket.expires_after(std::chrono::seconds{5});
    const auto [refused, place]
      = co_await socket.async_connect(places, as_result);
    if (refused)
      co_return false;
    socket.expires_never();
    stream_.set_option(
      websocket::stream_base::timeout::suggested(beast::role_type::client));
    stream_.read_message_max(max_message);
    const auto host = at.host + ':' + at.port;
    const auto [no_socket]
      = co_await stream_.async_handshake(host, at.path, as_result);
    if (no_socket)
      co_return false;
    send(registration(name));
    beast::flat_buffer buffer;
    for (;;) {
      const auto [lost, size] = co_await stream_.async_read(buffer, as_result);
      if (lost)
        break;
      take(beast::buffers_to_string(buffer.data()));
      buffer.consume(buffer.size());
    }
    is_lost_ = true;
    room_.cancel();
    for (const auto& [id, run] : runs_)
      run->cancel(); // nobody hears them
    co_return true;
  }

  /// Waits until few messages wait to be written, so that a slow command line
  /// holds a run back.
  /// @returns false if the connection is lost.
  net::awaitable<bool> wait_for_room() {
    while (!is_lost_ && waiting_.size() > max_waiting_messages) {
      co_await room_.async_wait(as_result);
    }
    co_return !is_lost_;
  }

  void send(const json& x) {
    if (is_lost_)
      return;
    waiting_.push_back(line_of(x));
    if (waiting_.size() == 1)
      net::co_spawn(stream_.get_executor(), write_all(shared_from_this()),
                    net::detached);
  }

private:
  /// Listener that sends what it hears as notifications.
  class sink final : public reflection_sink {
  public:
    sink(cli_link& to, std::string request)
      : link_(to), request_(std::move(request)) {}

    net::awaitable<void> started(const span_context& root) override {
      auto state = json::object();
      state["traceId"] = to_string(root.trace);
      tell("runActionState", "state", std::move(state));
      co_return;
    }

    net::awaitable<bool> chunk(const json& x) override {
      tell("streamChunk", "chunk", x);
      co_return co_await link_.wait_for_room();
    }

  private:
    // Not in a coroutine: g++ 12 does not compile such lists there.
    void tell(const char* method, const char* name, json value) {
      json parameters{{"requestId", request_}};
      parameters[name] = std::move(value);
      link_.send(notification(method, std::move(parameters)));
    }

    cli_link& link_;
    const std::string request_;
  };

  static net::awaitable<void> write_all(std::shared_ptr<cli_link> self) {
    while (!self->waiting_.empty() && !self->is_lost_) {
      const auto [lost, size] = co_await self->stream_.async_write(
        net::buffer(self->waiting_.front()), as_result);
      if (lost)
        self->is_lost_ = true;
      self->waiting_.pop_front();
      self->room_.cancel();
    }
  }

  void take(const std::string& text) {
    json message;
    try {
      message = read_document(text);
    } catch (const status_error&) {
      return;
    }
    if (!message.is_object())
      return;
    const auto method = text_in(message, "method");
    const auto parameters = message.value("params", json::object());
    if (method.empty()) {
      if (const auto i = message.find("result");
          i != message.end() && i->is_object())
        reflection_.telemetry().suggest(text_in(*i, "telemetryServerUrl"));
      return;
    }
    const auto id = message.find("id");
    if (id == message.end())
      return take_notice(method, parameters);
    answer(*id, method, parameters);
  }

  void take_notice(const std::string& method, const json& parameters) {
    if (method == "configure") {
      if (auto url = text_in(parameters, "telemetryServerUrl"); !url.empty())
        reflection_.telemetry().suggest(url);
      return;
    }
    const auto run = runs_.find(text_in(parameters, "requestId"));
    if (run == runs_.end())
      return;
    if (method == "sendInputStreamChunk" && parameters.contains("chunk"))
      run->second->send(parameters["chunk"]);
    else if (method == "endInputStream")
      run->second->close();
  }

  void answer(const json& id, const std::string& method,
              const json& parameters) {
    if (method == "listActions") {
      send(result_of(id, json{{"actions", reflection_.actions()}}));
    } else if (method == "listValues") {
      const auto type = text_in(parameters, "type");
      if (type == "defaultModel" || type == "middleware")
        send(result_of(id, json{{"values", json::object()}}));
      else
        send(
          error_of(id, wrong_parameters, "there are no values of this type"));
    } else if (method == "cancelAction") {
      if (reflection_.cancel(text_in(parameters, "traceId")))
        send(result_of(id, json{{"message", "Action cancelled"}}));
      else
        send(error_of(id, wrong_parameters,
                      "Action not found or already completed"));
    } else if (method == "runAction") {
      begin_to_run(id, parameters);
    } else {
      send(
        error_of(id, no_method, fmt::format("there is no method {}", method)));
    }
  }

  void begin_to_run(const json& id, const json& parameters) {
    reflection_call call;
    try {
      call = reflection_call::of(parameters);
    } catch (const status_error& x) {
      return send(error_of(id, wrong_parameters, x.message()));
    }
    if (!reflection_.has(call.key))
      return send(error_of(id, wrong_parameters,
                           fmt::format("action {} not found", call.key)));
    const auto name = id.is_string() ? id.get<std::string>() : id.dump();
    auto inputs = std::make_shared<reflected_run>();
    runs_[name] = inputs;
    net::co_spawn(stream_.get_executor(),
                  run(shared_from_this(), id, name, std::move(call),
                      std::move(inputs)),
                  net::detached);
  }

  static net::awaitable<void> run(std::shared_ptr<cli_link> self, json id,
                                  std::string name, reflection_call call,
                                  std::shared_ptr<reflected_run> inputs) {
    sink to{*self, name};
    auto last
      = co_await self->reflection_.run(std::move(call), to, std::move(inputs));
    self->runs_.erase(name);
    self->send(last_message(id, std::move(last)));
  }

  static json last_message(const json& id, json last) {
    if (!last.contains("error"))
      return result_of(id, std::move(last));
    auto error = std::move(last["error"]);
    const auto message = error["message"].get<std::string>();
    return error_of(id, failed, message, std::move(error));
  }

  reflection& reflection_;
  websocket::stream<beast::tcp_stream> stream_;
  net::steady_timer room_; ///< cancelled when a message was written
  std::deque<std::string> waiting_;
  std::map<std::string, std::shared_ptr<reflected_run>> runs_; ///< by request
  bool is_lost_ = false;
};

} // namespace

net::awaitable<void> serve_command_line(reflection& of, web_address to,
                                        std::string name) {
  constexpr auto first_pause = std::chrono::milliseconds{500};
  constexpr auto last_pause = std::chrono::milliseconds{5'000};
  const auto executor = co_await net::this_coro::executor;
  net::steady_timer timer{executor};
  for (auto pause = first_pause;;) {
    const auto connection = std::make_shared<cli_link>(of, executor);
    const auto was_there = co_await connection->serve(to, name);
    pause = was_there ? first_pause : std::min(2 * pause, last_pause);
    timer.expires_after(pause);
    co_await timer.async_wait(as_result);
  }
}

} // namespace tertulia::web
