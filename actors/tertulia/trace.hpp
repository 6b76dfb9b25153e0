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
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tertulia {

/// A random number of `Size` bytes, never zero, written as lower-case hex.
///
/// Unique, not secret: ids come from a fast generator per thread, which the
/// operating system seeds. A forked child repeats the ids of its parent.
///
/// @threads a value; `random` may be called from everywhere.
template <std::size_t Size>
class hex_id {
public:
  [[nodiscard]] static hex_id random();

  /// Returns empty unless `hex` is `2 * Size` lower-case digits, not all zero.
  [[nodiscard]] static std::optional<hex_id> parse(std::string_view hex);

  /// Most significant byte first.
  [[nodiscard]] const std::array<std::uint8_t, Size>& bytes() const noexcept {
    return bytes_;
  }

  friend auto operator<=>(const hex_id&, const hex_id&) = default;

private:
  hex_id() = default;

  std::array<std::uint8_t, Size> bytes_{};
};

/// Names a trace: all spans that one cause has led to, on all nodes.
using trace_id = hex_id<16>;

/// Names a span inside its trace.
using span_id = hex_id<8>;

std::string to_string(const trace_id& x);
std::string to_string(const span_id& x);

/// What a child needs to know about its parent, here or on another node.
///
/// @threads a value.
/// @design  W3C Trace Context, level 1.
struct span_context {
  span_context(trace_id trace, span_id span) : trace(trace), span(span) {}

  /// Returns the value of a `traceparent` header: `00-<trace>-<span>-<flags>`.
  [[nodiscard]] std::string to_traceparent() const;

  trace_id trace;
  span_id span;

  /// Whether whoever began the trace wants it kept. Children inherit it; what
  /// is recorded here depends only on who listens, so an exporting sink asks.
  bool sampled = true;

  friend bool operator==(const span_context&, const span_context&) = default;
};

/// Returns empty for anything that W3C Trace Context tells to ignore. A version
/// later than 00 is read by its known prefix; unknown flags are dropped.
[[nodiscard]] std::optional<span_context>
parse_traceparent(std::string_view header);

/// An attribute, key and value, as a record keeps it.
using attribute_value = std::variant<bool, std::int64_t, double, std::string>;
using attribute = std::pair<std::string, attribute_value>;

/// What may be given as the value of an attribute: truth, number or text.
template <class T>
concept attribute_like
  = std::is_arithmetic_v<T> || std::convertible_to<const T&, std::string_view>;

/// An attribute as a caller passes it: copies text only if a span records.
/// Integers above the range of `std::int64_t` saturate.
///
/// @threads  a value.
/// @lifetime a parameter: refers to the key and text that it was made from.
struct attribute_ref {
  using value_type = std::variant<bool, std::int64_t, double, std::string_view>;

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
    else
      return static_cast<std::string_view>(x);
  }
};

/// Something that happened at one moment of a span.
///
/// @threads a value.
struct span_event {
  span_event(std::string name, caf::timestamp time)
    : name(std::move(name)), time(time) {}

  std::string name;
  caf::timestamp time;
  std::vector<attribute> attributes;
};

/// The record of one span: begun, or finished once it has an `end`.
///
/// @threads a value; what sinks get no longer changes.
struct span_data {
  /// How much one record keeps: a span may stay open for hours. The first come
  /// stay, later ones are counted.
  static constexpr std::size_t max_attributes = 128;
  static constexpr std::size_t max_events = 128;

  span_data(std::string name, span_context context,
            std::optional<span_id> parent, caf::timestamp start)
    : name(std::move(name)), context(context), parent(parent), start(start) {}

  /// Returns how long it was open, by a steady clock; zero while it still is.
  [[nodiscard]] caf::timespan duration() const noexcept;

  /// Returns the value of the attribute, null if the record has none.
  [[nodiscard]] const attribute_value*
  find(std::string_view key) const noexcept;

  std::string name;
  span_context context;
  std::optional<span_id> parent; ///< Empty for the first span of a trace.
  caf::timestamp start;
  std::optional<caf::timestamp> end; ///< Empty while the span is open.

  std::vector<attribute> attributes; ///< Ordered by first set, keys distinct.
  std::vector<span_event> events;    ///< Ordered by time.
  std::uint64_t dropped_attributes = 0; ///< Those set beyond the maximum.
  std::uint64_t dropped_events = 0;     ///< Those added beyond the maximum.

  errc status = errc::ok;
  std::string message; ///< For people; says more about a `status` not ok.
};

/// Hears of spans while they happen. Implemented by exporters, user interfaces
/// and tests.
///
/// Calls come from the thread that uses the span, so be quick and hand over. A
/// sink that joins late hears the end of a span whose start it missed.
///
/// @threads  every member may be called from many threads at once.
/// @lifetime references hold during the call only.
class span_sink {
public:
  virtual ~span_sink() = default;

  /// A span began; it has no attributes yet.
  virtual void on_start(const span_data& x) noexcept = 0;

  /// An event was added to the open span, even if its record is full.
  virtual void on_event(const span_context& of, const span_event& x) noexcept;

  /// A span ended; nobody changes the record from now on.
  virtual void on_end(std::shared_ptr<const span_data> x) noexcept = 0;
};

class span_listeners; // private to trace.cpp

/// One piece of work while it lasts: ends when told to, or with its scope.
///
/// A span that does not record, because nobody listened when it started, is
/// empty: everything on it is a test of one pointer.
///
/// @threads one user at a time; may be moved from thread to thread in between.
class span {
public:
  span() = default;
  span(span&&) noexcept = default;

  /// Ends the span that was here before.
  span& operator=(span&& x) noexcept;

  ~span() {
    end();
  }

  /// Returns what children and other nodes need, null if not recording.
  /// @lifetime until the end of the span, moved or not.
  [[nodiscard]] const span_context* context() const noexcept;

  /// Sets an attribute; one with the same key is replaced in its place.
  template <attribute_like T>
  void set_attribute(std::string_view key, const T& value) {
    if (live_)
      put({key, value});
  }

  /// Adds an event with the present time.
  void add_event(std::string_view name,
                 std::initializer_list<attribute_ref> attributes = {}) {
    if (live_)
      put(name, attributes);
  }

  /// Says that the work failed or was cancelled; the last word counts.
  /// @pre `code` is not `errc::ok`.
  void set_error(errc code, std::string_view message) {
    if (live_)
      put(code, message);
  }

  /// Ends the span and tells all who listen now; does nothing the second time.
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

  std::shared_ptr<recording> live_; // of the span, then of the sinks
};

/// Starts spans and tells sinks about them.
///
/// As long as nobody listens a start costs one atomic load: no memory, no
/// clock, no id.
///
/// @threads  every member may be called from many threads at once.
/// @lifetime spans may outlive it, and keep its sinks until they end.
class tracer {
public:
  /// Has a sink told of spans for as long as it lives.
  ///
  /// @threads  one user at a time; may be moved from thread to thread.
  /// @lifetime may outlive its tracer, and keeps its sink.
  class [[nodiscard]] subscription {
  public:
    /// Makes one of no sink.
    subscription() = default;

    subscription(subscription&& x) noexcept
      : of_(std::move(x.of_)), sink_(x.sink_) {}

    /// Stops what was here before.
    subscription& operator=(subscription&& x) noexcept;

    ~subscription() {
      stop();
    }

    /// Stops telling the sink, unless another subscription has it told. A
    /// thread that is about to tell it may still do so, and keeps it alive for
    /// that. Does nothing the second time.
    void stop() noexcept;

  private:
    friend class tracer;

    subscription(std::shared_ptr<span_listeners> of,
                 const span_sink* sink) noexcept
      : of_(std::move(of)), sink_(sink) {}

    std::shared_ptr<span_listeners> of_;
    const span_sink* sink_ = nullptr;
  };

  tracer();
  tracer(const tracer&) = delete;
  tracer& operator=(const tracer&) = delete;
  ~tracer();

  /// Returns whether somebody listens. Ask before you compute a name.
  [[nodiscard]] bool enabled() const noexcept {
    // Relaxed, since the sinks are behind a mutex: who was told that somebody
    // listens sees it here, everybody else may come a bit late.
    return enabled_.load(std::memory_order_relaxed);
  }

  /// Starts a span, which is empty if nobody listens.
  ///
  /// @param name   what is done, such as `sessionFlow/turn/3`.
  /// @param parent null begins a new trace.
  [[nodiscard]] span start(std::string_view name,
                           const span_context* parent = nullptr) const {
    return enabled() ? record(name, parent) : span{};
  }

  /// Tells the sink, not null, for as long as the subscription lives. One with
  /// several subscriptions is told everything once.
  [[nodiscard]] subscription listen(std::shared_ptr<span_sink> sink);

private:
  span record(std::string_view name, const span_context* parent) const;

  std::atomic<bool> enabled_ = false;
  std::shared_ptr<span_listeners> listeners_; // shared with the open spans
};

} // namespace tertulia
