// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/random_bytes.hpp>
#include <tertulia/detail/text.hpp>
#include <tertulia/http_stream.hpp>

#include <algorithm>

#include "event_parser.hpp"
#include "retry_policy.hpp"
#include "transfer.hpp"
#include <fmt/format.h>

namespace tertulia {

namespace {

using http::part;
using http::transfer;

/// Wait on the actor of a body for a part of an answer. A cancel closes the
/// connection and ends the wait at once: the transfer does not refer to the
/// body.
class transfer_wait final : public detail::wait {
public:
  /// @param within time after which the wait fails.
  transfer_wait(std::shared_ptr<transfer> from, part wanted,
                caf::timespan within)
    : from_(std::move(from)), wanted_(wanted), within_(within) {}

  transfer_wait(transfer_wait&&) noexcept = default;

  ~transfer_wait() {
    if (is_linked())
      give_up();
  }

  template <detail::scoped_promise Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    if (!begin(waiting))
      return false;
    id_ = owner().register_wait(*this, within_);
    if (from_->is_ready(wanted_, {owner().self(), id_})) {
      owner().take_wait(id_);
      return false;
    }
    suspend();
    return true;
  }

  void abort(const caf::error& reason) override {
    give_up();
    detail::wait::abort(reason);
  }

  void await_resume() const {
    check();
  }

private:
  void give_up() {
    owner().take_wait(id_);
    from_->close_soon();
  }

  std::shared_ptr<transfer> from_;
  part wanted_;
  caf::timespan within_;
  std::uint64_t id_ = 0;
};

bool has_field(const http_fields& all, std::string_view lowered_name) {
  return std::any_of(all.begin(), all.end(), [=](const auto& x) {
    return detail::lowered(x.first) == lowered_name;
  });
}

/// Returns the encoding of a body apart from `chunked`; empty if it has none.
std::string encoding_of(const http_head& head) {
  const auto transfer = head.field("transfer-encoding");
  if (!transfer.empty() && detail::lowered(transfer) != "chunked")
    return std::string{transfer};
  const auto content = head.field("content-encoding");
  return std::string{detail::lowered(content) == "identity" ? "" : content};
}

} // namespace

// -- http_client --------------------------------------------------------------

http_client::http_client(http_options options)
  : endpoint_(std::make_shared<http::endpoint>(std::move(options))) {}

const http_options& http_client::options() const noexcept {
  return endpoint_->options;
}

std::string http_client::authority() const {
  return endpoint_->server.authority();
}

status_error http_client::presentable(const status_error& x) const {
  return http::presentable(x, endpoint_->hidden);
}

std::string_view http_head::field(std::string_view name) const {
  const auto found
    = std::find_if(fields.begin(), fields.end(),
                   [&](const auto& x) { return x.first == name; });
  return found == fields.end() ? std::string_view{} : found->second;
}

// -- http_stream --------------------------------------------------------------

struct http_stream::impl {
  impl(context ctx, http_client client)
    : ctx(ctx), client(std::move(client)), clock(ctx.system().clock()),
      deadline(clock.now() + options().total_within) {}

  [[nodiscard]] const http_options& options() const noexcept {
    return client.options();
  }

  /// Returns the time until the deadline of the whole call.
  [[nodiscard]] caf::timespan left() const {
    return std::max(caf::timespan{deadline - clock.now()}, caf::timespan{1});
  }

  void hang_up() {
    if (const auto unwanted = std::exchange(answer, nullptr))
      unwanted->close_soon();
  }

  task<http_head> open_once(std::shared_ptr<const http_request> request);
  task<http_head> open(std::shared_ptr<const http_request> request);
  task<std::string> read();
  task<status_error> read_error(unsigned status);

  context ctx;
  http_client client;
  caf::actor_clock& clock;
  caf::actor_clock::time_point deadline;
  std::shared_ptr<transfer> answer;
  std::optional<http::event_parser> events;
  std::string type; // of the content
};

task<http_head>
http_stream::impl::open_once(std::shared_ptr<const http_request> request) {
  hang_up();
  answer = std::make_shared<transfer>(client.endpoint_, std::move(request));
  answer->start();
  transfer_wait pending{answer, part::head, left()};
  co_await std::move(pending);
  co_return answer->take_head();
}

task<http_head>
http_stream::impl::open(std::shared_ptr<const http_request> request) {
  for (int retry = 0;; ++retry) {
    std::optional<status_error> failure;
    caf::timespan asked{0};
    try {
      auto head = co_await open_once(request);
      if (head.status / 100 == 2)
        co_return head;
      failure = co_await read_error(head.status);
      if (!http::is_worth_a_retry(head.status))
        throw *failure;
      asked = head.retry_after;
    } catch (const http::no_answer& x) {
      failure = x;
    }
    const auto pause
      = http::pause_before(retry, asked, detail::random_fraction(), options());
    if (!pause || *pause >= left())
      throw *failure;
    co_await ctx.sleep(*pause);
  }
}

task<std::string> http_stream::impl::read() {
  // The wait limits the time only if bytes are missing.
  if (clock.now() >= deadline)
    throw status_error{errc::deadline_exceeded,
                       "the server's answer took too long"};
  if (!answer)
    co_return std::string{};
  if (!answer->is_ready(part::bytes)) {
    transfer_wait pending{answer, part::bytes, left()};
    co_await std::move(pending);
  }
  co_return answer->take_bytes();
}

/// Reads the body of an error, up to `max_error_size`.
task<status_error> http_stream::impl::read_error(unsigned status) {
  std::string body;
  const auto limit = options().max_error_size;
  while (body.size() < limit) {
    const auto bytes = co_await as_expected(read());
    if (!bytes || bytes->empty())
      break;
    body += *bytes;
  }
  body.resize(std::min(body.size(), limit));
  co_return http::failure_of(status, body, client.endpoint_->hidden);
}

http_stream::http_stream(context ctx, const http_client& client)
  : impl_(std::make_unique<impl>(ctx, client)) {}

http_stream::~http_stream() {
  impl_->hang_up();
}

task<http_head> http_stream::open(http_request request) {
  http::check(request);
  if (const auto* span = impl_->ctx.trace().context();
      span != nullptr && !has_field(request.headers, "traceparent")
      && !has_field(impl_->options().headers, "traceparent")) {
    request.headers.emplace_back("traceparent", span->to_traceparent());
    if (!span->state.empty())
      request.headers.emplace_back("tracestate", span->state);
  }
  try {
    auto shared = std::make_shared<const http_request>(std::move(request));
    auto head = co_await impl_->open(std::move(shared));
    if (const auto encoding = encoding_of(head); !encoding.empty()) {
      const auto text = fmt::format(
        "the server's answer is encoded as {}, which was not asked for",
        encoding);
      throw status_error{errc::data_loss, text};
    }
    impl_->type = head.field("content-type");
    impl_->events.emplace(impl_->options().max_line_size);
    co_return head;
  } catch (const status_error& x) {
    throw impl_->client.presentable(x);
  }
}

task<http_head> http_stream::post(std::string path, std::string body) {
  http_request request{"POST", std::move(path), std::move(body)};
  co_return co_await open(std::move(request));
}

task<std::string> http_stream::read() {
  try {
    co_return co_await impl_->read();
  } catch (const status_error& x) {
    throw impl_->client.presentable(x);
  }
}

task<std::optional<http_event>> http_stream::next_event() {
  if (!impl_->events)
    co_return std::nullopt;
  if (!impl_->type.empty() && !impl_->type.starts_with("text/event-stream"))
    throw status_error{errc::data_loss,
                       "the server's answer is not a stream of events"};
  for (;;) {
    if (auto event = impl_->events->next())
      co_return event;
    const auto bytes = co_await read();
    if (bytes.empty())
      co_return std::nullopt;
    impl_->events->feed(bytes);
  }
}

void http_stream::finish() {
  impl_->events.reset();
  if (const auto done = std::exchange(impl_->answer, nullptr))
    done->finish_soon();
}

} // namespace tertulia
