// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/text.hpp>
#include <tertulia/http_stream.hpp>
#include <tertulia/otlp_exporter.hpp>
#include <tertulia/status.hpp>

#include <cstdlib>
#include <utility>

#include "otlp_text.hpp"
#include "span_queue.hpp"
#include <fmt/format.h>

namespace tertulia {

namespace {

void check(const otlp_options& x) {
  const auto reject = [](const char* name) {
    throw status_error{errc::invalid_argument,
                       fmt::format("{}: must be positive", name)};
  };
  if (x.max_queue == 0)
    reject("max_queue");
  if (x.max_batch == 0)
    reject("max_batch");
  if (x.interval.count() <= 0)
    reject("interval");
  if (x.flush_within.count() < 0)
    reject("flush_within");
}

constexpr auto general_endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT";
constexpr auto traces_endpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
constexpr auto protocol_name = "OTEL_EXPORTER_OTLP_PROTOCOL";

/// Returns a variable of the environment; empty if it is not set.
std::string value_of(const char* name) {
  const char* result = std::getenv(name);
  return result != nullptr ? result : "";
}

/// Sends one batch, and counts it.
task<nothing> send(context ctx, const http_client& collector,
                   const otlp_options& options, otlp::span_queue& queue,
                   otlp::span_queue::batch spans) {
  auto lost = spans.size();
  std::string failure;
  try {
    http_stream answer{ctx, collector};
    co_await answer.post(options.path, otlp::request_text(options, spans));
    std::string text;
    for (auto more = true; more;) {
      const auto bytes = co_await answer.read();
      text += bytes;
      more = !bytes.empty();
    }
    auto refused = otlp::refusal_in(text);
    lost = std::min(refused.spans, lost);
    failure = std::move(refused.message);
  } catch (const status_error& x) {
    failure = collector.presentable(x).what();
  }
  queue.count_batch(spans.size(), lost, std::move(failure));
  co_return nothing{};
}

/// Tells the queue that nothing is sent any more, however the body ends.
struct end_of_sending {
  explicit end_of_sending(otlp::span_queue& of) : queue(of) {}

  end_of_sending(const end_of_sending&) = delete;
  end_of_sending& operator=(const end_of_sending&) = delete;

  ~end_of_sending() {
    queue.end();
  }

  otlp::span_queue& queue;
};

/// Sends what waits, until the queue is closed and empty.
task<nothing> send_all(context ctx, otlp_options options,
                       std::shared_ptr<otlp::span_queue> queue) {
  const end_of_sending at_end{*queue};
  const http_client collector{options.collector};
  // A text, because g++ 12 warns of a number that it cannot see through.
  queue->set_wake_up(
    [to = ctx.address<std::string>()] { caf::anon_send(to, std::string{}); });
  for (;;) {
    // Asked before the batch is taken: what comes later is not waited for.
    const auto is_last = queue->is_closed();
    auto spans = queue->take();
    if (!spans.empty())
      co_await send(ctx, collector, options, *queue, std::move(spans));
    else if (is_last)
      co_return nothing{};
    else
      co_await when_any(ctx.receive<std::string>(),
                        ctx.sleep(options.interval));
  }
}

} // namespace

otlp_options::otlp_options() {
  collector.base_url = "http://127.0.0.1:4318";
  collector.total_within = std::chrono::seconds{30};
}

bool otlp_options::are_in_environment() {
  return detail::lowered(value_of("OTEL_SDK_DISABLED")) != "true"
         && !(value_of(general_endpoint).empty()
              && value_of(traces_endpoint).empty());
}

otlp_options otlp_options::from_environment() {
  if (value_of(protocol_name) == "grpc")
    throw status_error{errc::invalid_argument,
                       fmt::format("{}: grpc is not spoken, only http/json",
                                   protocol_name)};
  otlp_options result;
  if (auto url = value_of(general_endpoint); !url.empty())
    result.collector.base_url = std::move(url);
  // The whole address, unlike the general one.
  if (auto url = value_of(traces_endpoint); !url.empty()) {
    const auto host = url.find("://");
    const auto path = url.find('/', host == std::string::npos ? 0 : host + 3);
    result.path = path != std::string::npos ? url.substr(path) : "/";
    result.collector.base_url = url.substr(0, path);
  }
  const auto* headers = "OTEL_EXPORTER_OTLP_HEADERS";
  result.collector.headers = otlp::fields_in(headers, value_of(headers));
  const auto* attributes = "OTEL_RESOURCE_ATTRIBUTES";
  std::string name_among_them;
  for (auto& [key, value] : otlp::fields_in(attributes, value_of(attributes)))
    if (key == "service.name") // is unique
      name_among_them = std::move(value);
    else
      result.resource.emplace_back(std::move(key), std::move(value));
  auto name = value_of("OTEL_SERVICE_NAME");
  if (name.empty())
    name = std::move(name_among_them);
  if (!name.empty())
    result.service_name = std::move(name);
  return result;
}

namespace otlp {

/// Queue of an exporter, and the actor that empties it.
///
/// @threads one owner.
class sender {
public:
  sender(runtime& rt, const otlp_options& options)
    : queue_(
      std::make_shared<span_queue>(options.max_queue, options.max_batch)),
      running_(begin(rt, options, queue_)),
      listening_(rt.traces().listen(queue_)),
      flush_within_(options.flush_within) {}

  sender(const sender&) = delete;
  sender& operator=(const sender&) = delete;

  /// Cancels what is not sent in time.
  ~sender() {
    listening_.stop();
    queue_->close();
    queue_->flush(flush_within_);
  }

  [[nodiscard]] span_queue& queue() const noexcept {
    return *queue_;
  }

private:
  static connection<nothing, nothing, nothing>
  begin(runtime& rt, const otlp_options& options,
        const std::shared_ptr<span_queue>& queue) {
    // Not registered, so nobody else can open it; not a flow, which has a span.
    return rt
      .new_bidi_action("otlp-exporter",
                       [options, queue](context ctx, input<nothing>,
                                        output<nothing>) -> task<nothing> {
                         return send_all(ctx, options, queue);
                       })
      .stream_bidi();
  }

  std::shared_ptr<span_queue> queue_;
  connection<nothing, nothing, nothing> running_;
  tracer::subscription listening_;
  caf::timespan flush_within_;
};

} // namespace otlp

otlp_exporter::otlp_exporter(runtime& rt, otlp_options options) {
  check(options);
  static_cast<void>(http_client{options.collector}); // refuses wrong options
  sender_ = std::make_unique<otlp::sender>(rt, options);
}

otlp_exporter::~otlp_exporter() = default;

otlp_exporter::counts otlp_exporter::count() const {
  return sender_->queue().count();
}

std::string otlp_exporter::last_failure() const {
  return sender_->queue().last_failure();
}

bool otlp_exporter::flush(caf::timespan within) {
  return sender_->queue().flush(within);
}

} // namespace tertulia
