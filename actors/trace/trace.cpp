// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/random_bytes.hpp>
#include <tertulia/detail/text.hpp>
#include <tertulia/trace.hpp>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <mutex>

namespace tertulia {

namespace {

using clock = std::chrono::steady_clock;

/// Returns how far the time of day is ahead of the steady clock: the same value
/// for all spans of the process, or a child could end behind its parent, until
/// somebody sets the time of day. It is measured every 100 ms at most, because
/// reading the clocks would be the largest part of a short span.
caf::timespan offset_of_day(clock::time_point now) noexcept {
  using namespace std::chrono_literals;
  const auto offset_from = [](clock::time_point x) {
    return caf::timespan{caf::make_timestamp().time_since_epoch()
                         - x.time_since_epoch()};
  };
  static std::atomic<caf::timespan> known{offset_from(clock::now())};
  static std::atomic<clock::time_point> known_at{clock::time_point{}};
  const auto result = known.load(std::memory_order_relaxed);
  if (now - known_at.load(std::memory_order_relaxed) < 100ms)
    return result;
  const auto before = clock::now();
  const auto measured = offset_from(before);
  // A thread that has waited between the clocks knows nothing.
  if (clock::now() - before >= 500us)
    return result;
  const auto is_same = std::chrono::abs(measured - result) < 1ms;
  if (!is_same)
    known.store(measured, std::memory_order_relaxed);
  known_at.store(now, std::memory_order_relaxed);
  return is_same ? result : measured;
}

/// Number of attributes for which a span has room from the start.
constexpr std::size_t usual_attributes = 6;

template <std::size_t Size>
bool is_zero(const std::array<std::uint8_t, Size>& bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(), [](auto x) { return x == 0; });
}

attribute_value copy(const attribute_ref& x) {
  return std::visit(
    [](auto value) -> attribute_value {
      if constexpr (std::same_as<decltype(value), std::string_view>)
        return std::string{value};
      else if constexpr (std::same_as<decltype(value),
                                      const std::vector<std::string>*>)
        return *value;
      else
        return value;
    },
    x.value);
}

/// Returns whether other systems must be able to read a `tracestate`.
bool is_trace_state(std::string_view x) {
  constexpr std::size_t max_size = 512;
  constexpr std::ptrdiff_t max_members = 32;
  const auto is_printable = [](char c) { return c >= ' ' && c <= '~'; };
  return x.size() <= max_size && std::all_of(x.begin(), x.end(), is_printable)
         && std::count(x.begin(), x.end(), ',') < max_members;
}

} // namespace

template <std::size_t Size>
hex_id<Size> hex_id<Size>::random() {
  hex_id result;
  do
    detail::random_bytes(result.bytes_);
  while (is_zero(result.bytes_));
  return result;
}

template <std::size_t Size>
std::optional<hex_id<Size>> hex_id<Size>::parse(std::string_view hex) {
  hex_id result;
  if (!detail::read_hex(hex, result.bytes_) || is_zero(result.bytes_))
    return std::nullopt;
  return result;
}

template class hex_id<16>;
template class hex_id<8>;

std::string to_string(const trace_id& x) {
  return detail::to_hex(x.bytes());
}

std::string to_string(const span_id& x) {
  return detail::to_hex(x.bytes());
}

std::string span_context::to_traceparent() const {
  return "00-" + to_string(trace) + '-' + to_string(span)
         + (sampled ? "-01" : "-00");
}

std::optional<span_context> parse_traceparent(std::string_view header,
                                              std::string_view state) {
  // version "-" trace "-" span "-" flags; later versions may append "-" and
  // more.
  constexpr std::size_t size = 55;
  if (header.size() < size || header[2] != '-' || header[35] != '-'
      || header[52] != '-')
    return std::nullopt;
  std::array<std::uint8_t, 1> version{};
  std::array<std::uint8_t, 1> flags{};
  if (!detail::read_hex(header.substr(0, 2), version) || version[0] == 0xff
      || !detail::read_hex(header.substr(53, 2), flags))
    return std::nullopt;
  if (header.size() > size && (version[0] == 0 || header[size] != '-'))
    return std::nullopt;
  const auto trace = trace_id::parse(header.substr(3, 32));
  const auto span = span_id::parse(header.substr(36, 16));
  if (!trace || !span)
    return std::nullopt;
  span_context result{*trace, *span};
  result.sampled = (flags[0] & 1) != 0;
  if (is_trace_state(state))
    result.state = state;
  return result;
}

caf::timespan span_data::duration() const noexcept {
  return end ? *end - start : caf::timespan{0};
}

const attribute_value* span_data::find(std::string_view key) const noexcept {
  for (const auto& x : attributes)
    if (x.first == key)
      return &x.second;
  return nullptr;
}

void span_sink::on_event(const span_context&, const span_event&) noexcept {}

class span_listeners {
public:
  using list = std::vector<std::shared_ptr<span_sink>>;

  explicit span_listeners(std::atomic<bool>& enabled) : enabled_(&enabled) {}

  /// Returns the current list. A list is immutable, every change makes a new
  /// one. So the mutex is not held while a sink is busy or calls back.
  std::shared_ptr<const list> now() const {
    std::lock_guard guard{mutex_};
    return list_;
  }

  void add(std::shared_ptr<span_sink> sink) {
    update([&](list& all) { all.push_back(std::move(sink)); });
  }

  void remove(const span_sink* sink) {
    update([&](list& all) {
      const auto i = std::find_if(all.begin(), all.end(), [&](const auto& x) {
        return x.get() == sink;
      });
      if (i != all.end())
        all.erase(i);
    });
  }

  /// Detaches the listeners from their tracer, which is destroyed.
  /// Subscriptions may outlive it.
  void forget_tracer() {
    std::lock_guard guard{mutex_};
    enabled_ = nullptr;
  }

private:
  /// Changes the subscriptions. The old list is destroyed after the mutex is
  /// released: a sink may use the tracer in its destructor.
  template <class Change>
  void update(Change change) {
    std::shared_ptr<const list> old;
    std::lock_guard guard{mutex_};
    change(subscriptions_);
    auto next = std::make_shared<list>();
    for (const auto& x : subscriptions_)
      if (std::find(next->begin(), next->end(), x) == next->end())
        next->push_back(x);
    if (enabled_ != nullptr)
      enabled_->store(!next->empty(), std::memory_order_relaxed);
    old = std::exchange(list_, std::move(next));
  }

  mutable std::mutex mutex_;
  std::atomic<bool>* enabled_;
  list subscriptions_; // one per subscription: a sink may repeat
  std::shared_ptr<const list> list_ = std::make_shared<list>();
};

struct span::recording {
  recording(span_data data, clock::time_point begin,
            std::shared_ptr<const span_listeners> listeners)
    : data(std::move(data)), begin(begin), listeners(std::move(listeners)) {}

  [[nodiscard]] caf::timestamp now() const {
    return data.start
           + std::chrono::duration_cast<caf::timespan>(clock::now() - begin);
  }

  span_data data;
  clock::time_point begin;
  std::shared_ptr<const span_listeners> listeners;
};

span& span::operator=(span&& x) noexcept {
  if (this != &x) {
    end();
    live_ = std::move(x.live_);
  }
  return *this;
}

const span_context* span::context() const noexcept {
  return live_ ? &live_->data.context : nullptr;
}

void span::put(attribute_ref x) {
  auto& data = live_->data;
  for (auto& known : data.attributes)
    if (known.first == x.key) {
      known.second = copy(x);
      return;
    }
  if (data.attributes.size() < span_data::max_attributes)
    data.attributes.emplace_back(x.key, copy(x));
  else
    ++data.dropped_attributes;
}

void span::put(std::string_view name, std::initializer_list<attribute_ref> xs) {
  auto& data = live_->data;
  span_event event{std::string{name}, live_->now()};
  event.attributes.reserve(xs.size());
  for (const auto& x : xs)
    event.attributes.emplace_back(x.key, copy(x));
  const auto sinks = live_->listeners->now();
  for (const auto& sink : *sinks)
    sink->on_event(data.context, event);
  if (data.events.size() < span_data::max_events)
    data.events.push_back(std::move(event));
  else
    ++data.dropped_events;
}

void span::put(errc code, std::string_view message) {
  assert(code != errc::ok);
  live_->data.status = code;
  live_->data.message = message;
}

void span::finish() noexcept {
  const auto done = std::exchange(live_, nullptr);
  done->data.end = done->now();
  // The record may be kept for a long time and must not keep its sinks alive.
  const auto sinks = std::exchange(done->listeners, nullptr)->now();
  for (const auto& sink : *sinks)
    sink->on_end({done, &done->data});
}

tracer::subscription&
tracer::subscription::operator=(subscription&& x) noexcept {
  if (this != &x) {
    stop();
    source_ = std::move(x.source_);
    sink_ = x.sink_;
  }
  return *this;
}

void tracer::subscription::stop() noexcept {
  if (const auto of = std::exchange(source_, nullptr))
    of->remove(sink_);
}

tracer::tracer() : listeners_(std::make_shared<span_listeners>(enabled_)) {}

tracer::~tracer() {
  listeners_->forget_tracer();
}

tracer::subscription tracer::listen(std::shared_ptr<span_sink> sink) {
  assert(sink != nullptr);
  auto* const target = sink.get();
  listeners_->add(std::move(sink));
  return {listeners_, target};
}

span tracer::record(std::string_view name, const span_context* parent,
                    std::span<const attribute_ref> first) const {
  const auto sinks = listeners_->now();
  if (sinks->empty()) // the last sink has just unsubscribed
    return {};
  span_context context{parent ? parent->trace : trace_id::random(),
                       span_id::random()};
  std::optional<span_id> parent_id;
  if (parent) {
    context.sampled = parent->sampled;
    context.state = parent->state;
    parent_id = parent->span;
  }
  const auto begin = clock::now();
  const caf::timestamp start{begin.time_since_epoch() + offset_of_day(begin)};
  span result;
  result.live_ = std::make_shared<span::recording>(
    span_data{std::string{name}, context, parent_id, start}, begin, listeners_);
  result.live_->data.attributes.reserve(usual_attributes);
  for (const auto& x : first)
    result.put(x);
  for (const auto& sink : *sinks)
    sink->on_start(result.live_->data);
  return result;
}

} // namespace tertulia
