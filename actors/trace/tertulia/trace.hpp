// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/errc.hpp>

#include <caf/timestamp.hpp>

#include <array>
#include <atomic>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tertulia {

/// A random number of `Size` bytes, never zero, written as lower-case hex.
///
/// Unique, not secret: ids come from a fast generator per thread, which is
/// seeded by the operating system. A forked child repeats the ids of its
/// parent.
///
/// @threads a value; `random` may be called from any thread.
template <std::size_t Size>
class hex_id {
public:
  [[nodiscard]] static hex_id random();

  /// Returns the id, empty unless `hex` is `2 * Size` lower-case digits, not
  /// all zero.
  [[nodiscard]] static std::optional<hex_id> parse(std::string_view hex);

  /// Returns the bytes, most significant first.
  [[nodiscard]] const std::array<std::uint8_t, Size>& bytes() const noexcept {
    return bytes_;
  }

  friend auto operator<=>(const hex_id&, const hex_id&) = default;

private:
  hex_id() = default;

  std::array<std::uint8_t, Size> bytes_{};
};

/// Id of a trace: all spans with one common cause, on all nodes.
using trace_id = hex_id<16>;

/// Id of a span inside its trace.
using span_id = hex_id<8>;

std::string to_string(const trace_id& x);
std::string to_string(const span_id& x);

/// Data of a parent span that its children need, on this or another node.
///
/// @threads a value.
/// @design  W3C Trace Context, level 1.
struct span_context {
  span_context(trace_id trace, span_id span) : trace(trace), span(span) {}

  /// Returns the value of a `traceparent` header: `00-<trace>-<span>-<flags>`.
  [[nodiscard]] std::string to_traceparent() const;

  trace_id trace;
  span_id span;

  /// True if the originator of the trace wants it kept. Children inherit the
  /// flag. Recording here depends only on the subscribed sinks, so a sink that
  /// exports must check the flag.
  bool sampled = true;

  /// Value of a `tracestate` header: what other systems pass on in the trace.
  /// Children inherit it.
  std::string state{};

  friend bool operator==(const span_context&, const span_context&) = default;
};

/// Returns the content of a `traceparent` header; empty for one that has to be
/// ignored according to W3C Trace Context. A version later than 00 is read by
/// its known prefix; unknown flags are dropped.
/// @param state the `tracestate` header; dropped if it has more than 32 members
///              or 512 bytes, or is not printable ASCII.
[[nodiscard]] std::optional<span_context>
parse_traceparent(std::string_view header, std::string_view state = {});

/// Key and value of an attribute in a record.
using attribute_value = std::variant<bool, std::int64_t, double, std::string,
                                     std::vector<std::string>>;
using attribute = std::pair<std::string, attribute_value>;

/// A type of an attribute's value: bool, number, text or texts.
template <class T>
concept attribute_like = std::is_arithmetic_v<T> || std::convertible_to<
  const T&, std::string_view> || std::same_as<T, std::vector<std::string>>;

/// An attribute as a parameter: text is copied only if a span records. Integers
/// above the range of `std::int64_t` saturate.
///
/// @threads  a value.
/// @lifetime for parameters only: refers to the key and text of the caller.
struct attribute_ref {
  using value_type = std::variant<bool, std::int64_t, double, std::string_view,
                                  const std::vector<std::string>*>;

  template <attribute_like T>
  attribute_ref(std::string_view key, const T& value) noexcept
    : key(key), value(refer(value)) {}

  std::string_view key;
  value_type value;

private:
  template <class T>
  static value_type refer(const T& x) noexcept {
    if constexpr (std::same_as<T, bool>)
      return x;
    else if constexpr (std::floating_point<T>)
      return static_cast<double>(x);
    else if constexpr (std::unsigned_integral<T> && sizeof(T) >= 8)
      return static_cast<std::int64_t>(x < INT64_MAX ? x : INT64_MAX);
    else if constexpr (std::integral<T>)
      return static_cast<std::int64_t>(x);
    else if constexpr (std::same_as<T, std::vector<std::string>>)
      return &x;
    else
      return static_cast<std::string_view>(x);
  }
};

/// An event at one moment of a span.
///
/// @threads a value.
struct span_event {
  span_event(std::string name, caf::timestamp time)
    : name(std::move(name)), time(time) {}

  std::string name;
  caf::timestamp time;
  std::vector<attribute> attributes;
};

/// Record of one span, which is finished once it has an `end`.
///
/// @threads a value; a record that was passed to `on_end` no longer changes.
struct span_data {
  /// Limits of one record: a span may stay open for hours. The first entries
  /// are kept, later ones are only counted.
  static constexpr std::size_t max_attributes = 128;
  static constexpr std::size_t max_events = 128;

  span_data(std::string name, span_context context,
            std::optional<span_id> parent, caf::timestamp start)
    : name(std::move(name)), context(context), parent(parent), start(start) {}

  /// Returns how long the span was open, by a steady clock; zero while it is
  /// open.
  [[nodiscard]] caf::timespan duration() const noexcept;

  /// Returns the value of the attribute, null if it is not set.
  [[nodiscard]] const attribute_value*
  find(std::string_view key) const noexcept;

  std::string name;
  span_context context;
  std::optional<span_id> parent; ///< Empty for the first span of a trace.
  caf::timestamp start;
  std::optional<caf::timestamp> end; ///< Empty while the span is open.

  std::vector<attribute> attributes; ///< Ordered by first set, keys distinct.
  std::vector<span_event> events;    ///< Ordered by time.
  std::uint64_t dropped_attributes = 0; ///< Number beyond the maximum.
  std::uint64_t dropped_events = 0;     ///< Number beyond the maximum.

  errc status = errc::ok;
  std::string message; ///< For people; explains a `status` other than `ok`.
};

/// Receiver of spans as they happen. Implemented by exporters, user interfaces
/// and tests.
///
/// Called on the thread that uses the span, so an implementation should return
/// quickly and hand its work over. A sink that subscribes late receives the end
/// of a span whose start it missed.
///
/// @threads  every member may be called from many threads at once.
/// @lifetime references are valid during the call only.
class span_sink {
public:
  virtual ~span_sink() = default;

  /// Handles the start of a span, which has no attributes yet.
  virtual void on_start(const span_data& x) noexcept = 0;

  /// Handles an event of an open span, even if its record is full.
  virtual void on_event(const span_context& parent,
                        const span_event& x) noexcept;

  /// Handles the end of a span. The record does not change any more.
  virtual void on_end(std::shared_ptr<const span_data> x) noexcept = 0;
};

class span_listeners; // private to trace.cpp

/// A piece of work in progress: ends by `end` or by the destructor.
///
/// A span that does not record, because no sink was subscribed when it started,
/// is empty: each operation on it tests one pointer.
///
/// @threads one user at a time; may be moved from thread to thread in between.
class span {
public:
  span() = default;
  span(span&&) noexcept = default;

  /// Ends the previous span.
  span& operator=(span&& x) noexcept;

  ~span() {
    end();
  }

  /// Returns the data for children and other nodes, null if not recording.
  /// @lifetime until the end of the span, even if it is moved.
  [[nodiscard]] const span_context* context() const noexcept;

  /// Sets an attribute; one with the same key is replaced in its place.
  template <attribute_like T>
  void set_attribute(std::string_view key, const T& value) {
    if (live_)
      put({key, value});
  }

  /// Adds an event with the current time.
  void add_event(std::string_view name,
                 std::initializer_list<attribute_ref> attributes = {}) {
    if (live_)
      put(name, attributes);
  }

  /// Marks the work as failed or cancelled; the last call counts.
  /// @pre `code` is not `errc::ok`.
  void set_error(errc code, std::string_view message) {
    if (live_)
      put(code, message);
  }

  /// Ends the span and notifies all sinks that are subscribed now. Does nothing
  /// the second time.
  void end() noexcept {
    if (live_)
      finish();
  }

private:
  friend class tracer;
  struct recording;

  void put(attribute_ref x);
  void put(std::string_view name, std::initializer_list<attribute_ref> xs);
  void put(errc code, std::string_view message);
  void finish() noexcept;

  std::shared_ptr<recording> live_; // owned by the span, then by the sinks
};

/// Factory of spans that notifies the subscribed sinks.
///
/// Without a subscribed sink a start costs one atomic load: no memory, no
/// clock, no id.
///
/// @threads  every member may be called from many threads at once.
/// @lifetime spans may outlive it, and keep its sinks until they end.
class tracer {
public:
  /// Subscription of a sink, which is notified of spans while this lives.
  ///
  /// @threads  one user at a time; may be moved from thread to thread.
  /// @lifetime may outlive its tracer, and keeps its sink.
  class [[nodiscard]] subscription {
  public:
    /// Makes a subscription without a sink.
    subscription() = default;

    subscription(subscription&& x) noexcept
      : source_(std::move(x.source_)), sink_(x.sink_) {}

    /// Stops the previous subscription.
    subscription& operator=(subscription&& x) noexcept;

    ~subscription() {
      stop();
    }

    /// Stops notifying the sink, unless it has another subscription. A thread
    /// that is about to notify the sink may still do so, and keeps it alive for
    /// that. Does nothing the second time.
    void stop() noexcept;

  private:
    friend class tracer;

    subscription(std::shared_ptr<span_listeners> of,
                 const span_sink* sink) noexcept
      : source_(std::move(of)), sink_(sink) {}

    std::shared_ptr<span_listeners> source_;
    const span_sink* sink_ = nullptr;
  };

  tracer();
  tracer(const tracer&) = delete;
  tracer& operator=(const tracer&) = delete;
  ~tracer();

  /// Returns whether a sink is subscribed. Check this before computing a name.
  [[nodiscard]] bool enabled() const noexcept {
    // Relaxed, since the sinks are behind a mutex. A thread that synchronises
    // with `listen` sees its effect here; other threads may see it later.
    return enabled_.load(std::memory_order_relaxed);
  }

  /// Starts a span, which is empty if no sink is subscribed.
  ///
  /// @param name   name of the work, such as `loadProfile`.
  /// @param parent null begins a new trace.
  /// @param first  attributes that sinks know when the span starts.
  [[nodiscard]] span start(std::string_view name,
                           const span_context* parent = nullptr,
                           std::span<const attribute_ref> first = {}) const {
    return enabled() ? record(name, parent, first) : span{};
  }

  /// Subscribes the sink, which is not null, for as long as the subscription
  /// lives. A sink with several subscriptions is notified once.
  [[nodiscard]] subscription listen(std::shared_ptr<span_sink> sink);

private:
  span record(std::string_view name, const span_context* parent,
              std::span<const attribute_ref> first) const;

  std::atomic<bool> enabled_ = false;
  std::shared_ptr<span_listeners> listeners_; // shared with the open spans
};

} // namespace tertulia
