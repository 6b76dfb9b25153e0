// SPDX-License-Identifier: BSD-3-Clause

#include "socket_session.hpp"

#include <array>
#include <exception>
#include <memory>
#include <utility>

#include "message/error_body.hpp"
#include "message/exchange.hpp"
#include "message/request_reader.hpp"
#include "message/request_record.hpp"
#include "routes/router.hpp"
#include "web_socket.hpp"
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <fmt/format.h>

namespace tertulia::web {

namespace {

/// Time for which a refused client may go on to send, so that it reads why.
constexpr auto linger_within = std::chrono::seconds{2};

class socket_session final
  : public exchange,
    public live_session,
    public std::enable_shared_from_this<socket_session> {
public:
  socket_session(server_core& server, const net::ip::address& from,
                 tcp::socket socket)
    : server_(server), tls_(server.tls()),
      stream_(std::move(socket), tls_.get()), executor_(stream_.get_executor()),
      has_watched_(executor_), limit_(executor_, [this] { expire(); }) {
    peer = from;
  }

  ~socket_session() override {
    server_.remove(*this, peer);
  }

  /// Tells the server of this connection.
  void join() {
    is_draining_ = !server_.add(*this);
  }

  net::awaitable<void> run() {
    is_waiting_ = true; // nothing is under way
    limit_.set(server_.options().request_within);
    const auto can_talk = co_await stream_.handshake();
    limit_.clear();
    is_waiting_ = false;
    if (!can_talk)
      co_return;
    // Not in one condition: g++ 12 would not destroy this coroutine.
    for (auto goes_on = true; goes_on && !is_draining_;) {
      goes_on = co_await wait_for_request();
      if (goes_on)
        goes_on = co_await serve_next();
    }
    if (is_upgraded_ || is_broken_ || !socket().is_open())
      co_return; // there is nobody to say goodbye to
    co_await cancel_watch();
    limit_.set(linger_within);
    co_await stream_.finish();
  }

  void close() {
    if (!is_upgraded_)
      close_socket();
  }

  // -- exchange ---------------------------------------------------------------

  [[nodiscard]] net::any_io_executor executor() const override {
    return executor_;
  }

  net::awaitable<void> reply(response_message x) override {
    prepare(x);
    auto head = x.head(request.version(), is_last_, body_end::length);
    if (request.method() == http::verb::head)
      x.body.clear(); // its length stays
    return write_both(std::move(head), std::move(x.body));
  }

  net::awaitable<bool> begin(response_message head) override {
    prepare(head);
    is_chunked_ = request.version() >= 11;
    is_last_ = is_last_ || !is_chunked_;
    is_bare_ = request.method() == http::verb::head;
    const auto text
      = head.head(request.version(), is_last_,
                  is_chunked_ ? body_end::last_chunk : body_end::connection);
    co_await write_all(net::buffer(text));
    co_return !is_broken_;
  }

  net::awaitable<bool> write(std::string_view part) override {
    if (is_bare_ || part.empty()) // an empty chunk would be the last one
      co_return !is_broken_;
    const net::const_buffer bytes{part.data(), part.size()};
    if (is_chunked_)
      co_await write_all(http::make_chunk(bytes));
    else
      co_await write_all(bytes);
    co_return !is_broken_;
  }

  net::awaitable<void> end() override {
    if (is_chunked_ && !is_bare_)
      co_await write_all(http::make_chunk_last());
  }

  void reset() override {
    is_broken_ = true;
    boost::system::error_code ignored;
    socket().set_option(net::socket_base::linger{true, 0}, ignored);
    close();
  }

  void when_gone(std::function<void()> call) override {
    end_handler_ = std::move(call);
    if (end_handler_)
      watch();
  }

  [[nodiscard]] bool is_draining() const noexcept override {
    return is_draining_;
  }

  net::awaitable<std::unique_ptr<web_socket>> upgrade() override {
    if (auto refusal = web_socket_refusal(request)) {
      co_await reply(std::move(*refusal));
      co_return nullptr;
    }
    status = 101;
    is_upgraded_ = true; // a WebSocket has its own time limits
    auto result = make_web_socket(std::move(stream_), server_.options(),
                                  this->shared_from_this());
    web_socket_ = result.get();
    stream_.reset();
    buffer_ = {}; // this object may live for days
    if (!co_await result->accept(request)) {
      is_broken_ = true;
      co_return nullptr;
    }
    co_return result;
  }

  void forget_web_socket() override {
    web_socket_ = nullptr;
  }

  // -- live_session -----------------------------------------------------------

  void drain() override {
    begin_to_drain([](socket_session& self) {
      if (self.is_waiting_)
        self.expire();
      else if (self.when_draining)
        self.when_draining();
    });
  }

  void abort() override {
    begin_to_drain([](socket_session& self) {
      if (self.web_socket_ != nullptr)
        self.web_socket_->abort();
      else
        self.close();
    });
  }

private:
  template <class Fn>
  void begin_to_drain(Fn next) {
    net::post(executor_, [weak = this->weak_from_this(), next] {
      if (const auto self = weak.lock()) {
        self->is_draining_ = true;
        next(*self);
      }
    });
  }

  /// Writes all of some buffers, unless the client is gone.
  template <class Buffers>
  net::awaitable<void> write_all(Buffers buffers) {
    limit_.set(server_.options().write_within);
    const auto [problem, size]
      = co_await net::async_write(stream_, buffers, as_result);
    end_write(problem, size);
  }

  /// Writes both parts of an answer, unless the client is gone. It repeats
  /// three lines of `write_all`: one coroutine for an answer is faster than
  /// two.
  net::awaitable<void> write_both(std::string head, std::string body) {
    const std::array<net::const_buffer, 2> all{net::buffer(head),
                                               net::buffer(body)};
    limit_.set(server_.options().write_within);
    const auto [problem, size]
      = co_await net::async_write(stream_, all, as_result);
    end_write(problem, size);
  }

  void end_write(const boost::system::error_code& problem, std::size_t size) {
    limit_.clear();
    written += size;
    if (problem)
      is_broken_ = true;
  }

  /// Ends the read of `watch`: with TLS the goodbye reads as well, and one read
  /// at a time is possible.
  net::awaitable<void> cancel_watch() {
    if (!is_watching_)
      co_return;
    cancel();
    has_watched_.expires_after(linger_within);
    co_await has_watched_.async_wait(as_result);
  }

  /// Waits for the first byte of a request.
  net::awaitable<bool> wait_for_request() {
    if (buffer_.size() > 0)
      co_return true; // sent before the last answer
    if (has_left_)
      co_return false;
    is_waiting_ = true;
    limit_.set(server_.options().idle_within);
    if (is_watching_) { // which reads it
      has_watched_.expires_at(clock::time_point::max());
      co_await has_watched_.async_wait(as_result);
      limit_.clear();
      is_waiting_ = false;
      co_return !is_watching_ && buffer_.size() > 0;
    }
    buffer_.shrink_to_fit();
    const auto [problem, size] = co_await stream_.async_read_some(
      buffer_.prepare(first_read), as_result);
    limit_.clear();
    is_waiting_ = false;
    buffer_.commit(size);
    co_return !problem;
  }

  /// Reads a request and answers it.
  /// @returns whether another one may follow.
  net::awaitable<bool> serve_next() {
    request_parser parser;
    const auto problem = co_await read_request(stream_, buffer_, limit_,
                                               server_.options(), parser);
    request = parser.release(); // of one that cannot be read what is known
    if (problem) {
      co_await refuse(problem);
      co_return false;
    }
    is_last_ = !request.keep_alive();
    status = 0;
    written = 0;
    is_left = false;
    co_await serve(server_, *this);
    end_handler_ = nullptr;
    when_draining = nullptr;
    caller.clear();
    origin.clear();
    co_return !is_broken_ && !is_last_ && !is_upgraded_;
  }

  /// Answers a request that cannot be read.
  net::awaitable<void> refuse(const boost::system::error_code& problem) {
    const auto code = refusal_of(problem);
    if (!code)
      co_return;
    is_last_ = true;
    request.version(11);
    written = 0;
    note_origin(server_, *this);
    co_await reply(json_response(
      *code, error_text({errc::invalid_argument,
                         fmt::format("the request cannot be read: {}",
                                     problem.message())})));
    record_unread(server_, *this);
    limit_.set(linger_within);
    co_await stream_.finish();
    co_await read_on(socket());
  }

  void prepare(response_message& x) {
    if (is_draining_ || has_left_)
      is_last_ = true;
    x.add("X-Content-Type-Options", "nosniff");
    if (!origin.empty()) {
      x.add("Access-Control-Allow-Origin", origin);
      x.add("Access-Control-Expose-Headers", server_.answer_fields());
      x.add("Vary", "Origin");
    }
    status = static_cast<unsigned>(x.status);
  }

  /// Reads until the client sends something, which is its next request, or ends
  /// the connection.
  void watch() {
    if (buffer_.size() > 0 || std::exchange(is_watching_, true))
      return;
    stream_.async_read_some(
      buffer_.prepare(first_read),
      [self = this->shared_from_this()](const boost::system::error_code& end,
                                        std::size_t size) {
        self->end_watch(static_cast<bool>(end), size);
      });
  }

  void end_watch(bool client_has_left, std::size_t size) {
    is_watching_ = false;
    // No further read would tell of this end.
    has_left_ = has_left_ || client_has_left;
    buffer_.commit(size);
    has_watched_.cancel();
    if (!client_has_left || !end_handler_)
      return;
    is_left = true;
    end_handler_();
  }

  /// Ends what takes too long, or is idle. An idle client is told with TLS.
  void expire() {
    if (!std::exchange(is_waiting_, false))
      return close();
    limit_.set(linger_within); // a read of TLS may end before the cancellation
    cancel();
  }

  tcp::socket& socket() {
    return stream_.next_layer();
  }

  void close_socket() {
    boost::system::error_code ignored;
    socket().close(ignored);
  }

  /// Ends what the connection waits for.
  void cancel() {
    boost::system::error_code ignored;
    socket().cancel(ignored);
  }

  static constexpr std::size_t first_read = 1'024;

  server_core& server_;
  std::shared_ptr<net::ssl::context> tls_;
  server_stream stream_;
  net::any_io_executor executor_;
  net::steady_timer has_watched_;
  time_limit limit_;
  beast::flat_buffer buffer_;
  web_socket* web_socket_ = nullptr;
  std::function<void()> end_handler_;
  bool is_waiting_ = false;
  bool is_draining_ = false;
  bool is_last_ = false;
  bool is_broken_ = false;
  bool is_chunked_ = false;
  bool is_bare_ = false; ///< whether the answer is a head only
  bool is_upgraded_ = false;
  bool is_watching_ = false;
  bool has_left_ = false; ///< whether the client sends nothing more
};

} // namespace

void spawn_session(server_core& server, tcp::socket socket,
                   const net::ip::address& from) {
  std::shared_ptr<socket_session> session;
  try {
    session = std::make_shared<socket_session>(server, from, std::move(socket));
  } catch (const std::exception&) { // no memory, also for TLS
    return server.forget(from);
  }
  session->join();
  net::co_spawn(session->executor(), session->run(),
                [session](const std::exception_ptr&) { session->close(); });
}

} // namespace tertulia::web
