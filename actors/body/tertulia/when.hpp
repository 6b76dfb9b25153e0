// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/host.hpp>
#include <tertulia/nothing.hpp>
#include <tertulia/task.hpp>

#include <cstddef>
#include <deque>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tertulia {

namespace detail {

/// Result type of awaiting an `A`, with `nothing` for void.
template <class A>
using awaited_value_t
  = std::conditional_t<std::is_void_v<awaited_t<A>>, nothing, awaited_t<A>>;

template <class A>
task<awaited_value_t<A>> as_task(A x) {
  if constexpr (std::is_void_v<awaited_t<A>>) {
    co_await std::move(x);
    co_return nothing{};
  } else {
    co_return co_await std::move(x);
  }
}

/// Wait for several parts of a body that run side by side. No part outlives it:
/// parts that are no longer needed are cancelled, and the wait is over when
/// they have unwound.
class race : public wait {
public:
  enum class policy {
    all,   ///< The first failure cancels the others.
    first, ///< The first end, by value or by error, cancels the others.
  };

  explicit race(policy rule) noexcept : policy_(rule) {}

  race(race&&) noexcept = default;

  /// A cancel from above reaches the parts through their scopes; the wait ends
  /// when the parts have ended.
  void abort(const caf::error& reason) override {
    fail_with(reason);
  }

protected:
  /// One part of a race.
  template <class T>
  class entrant final : public task_listener {
  public:
    entrant(race& group, std::size_t index, task<T>& part, scope& parent)
      : race_(group), index_(index), part_(part), scope_(&parent) {
      scope_.owner().schedule(access::start(part_, *this, scope_));
    }

    void on_task_end() noexcept override {
      race_.on_part_end(index_, access::has_failed(part_));
    }

    void cancel(const caf::error& reason) {
      scope_.cancel(reason);
    }

  private:
    race& race_;
    std::size_t index_;
    task<T>& part_;
    scope scope_;
  };

  ~race() = default;

  void set_part_count(std::size_t parts) noexcept {
    running_parts_ = parts;
  }

  /// Returns the part that ended first; with `all`, the first that failed.
  [[nodiscard]] std::optional<std::size_t> deciding_part() const noexcept {
    return deciding_part_;
  }

  virtual void cancel_parts(const caf::error& reason) = 0;

private:
  void on_part_end(std::size_t index, bool failed) noexcept {
    if (!deciding_part_ && (failed || policy_ == policy::first)) {
      deciding_part_ = index;
      cancel_parts(fail(errc::cancelled, failed ? "another part has failed"
                                                : "another part was first"));
    }
    if (--running_parts_ == 0)
      wake();
  }

  policy policy_;
  std::size_t running_parts_ = 0;
  std::optional<std::size_t> deciding_part_;
};

/// A race of parts with different types.
template <class... Ts>
class tuple_race : public race {
public:
  tuple_race(policy rule, task<Ts>&&... parts)
    : race(rule), parts_(std::move(parts)...) {}

  tuple_race(tuple_race&& other) noexcept
    : race(std::move(other)), parts_(std::move(other.parts_)) {}

  template <scoped_promise Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    if (!begin(waiting) || sizeof...(Ts) == 0)
      return false;
    set_part_count(sizeof...(Ts));
    suspend();
    start(waiting.promise().scope(), std::index_sequence_for<Ts...>{});
    return true;
  }

private:
  std::tuple<std::optional<entrant<Ts>>...> entrants_;

protected:
  // Destroyed first: a wait that is pending in a part refers to its scope.
  std::tuple<task<Ts>...> parts_;

private:
  template <std::size_t... Is>
  void start(scope& parent, std::index_sequence<Is...>) {
    (std::get<Is>(entrants_).emplace(*this, Is, std::get<Is>(parts_), parent),
     ...);
  }

  void cancel_parts(const caf::error& reason) override {
    std::apply([&](auto&... xs) { (xs->cancel(reason), ...); }, entrants_);
  }
};

template <class... Ts>
class [[nodiscard]] all_of final : public tuple_race<Ts...> {
public:
  using result_type = std::tuple<Ts...>;

  explicit all_of(task<Ts>&&... parts)
    : tuple_race<Ts...>(race::policy::all, std::move(parts)...) {}

  result_type await_resume() {
    this->check();
    return std::apply(
      [this](auto&... xs) {
        if (const auto failed = this->deciding_part()) {
          std::size_t index = 0;
          ((index++ == *failed ? void(access::result(xs)) : void()),
           ...); // throws
        }
        return result_type{access::result(xs)...};
      },
      this->parts_);
  }
};

template <class... Ts>
class [[nodiscard]] any_of final : public tuple_race<Ts...> {
public:
  using result_type = std::variant<Ts...>;

  explicit any_of(task<Ts>&&... parts)
    : tuple_race<Ts...>(race::policy::first, std::move(parts)...) {}

  result_type await_resume() {
    this->check();
    std::optional<result_type> result;
    take(result, std::index_sequence_for<Ts...>{});
    return std::move(*result);
  }

private:
  template <std::size_t... Is>
  void take(std::optional<result_type>& result, std::index_sequence<Is...>) {
    const auto first = *this->deciding_part();
    ((Is == first ? void(result.emplace(
        std::in_place_index<Is>, access::result(std::get<Is>(this->parts_))))
                  : void()),
     ...);
  }
};

/// A race of any number of parts of one type.
template <class T>
class [[nodiscard]] all_of_many final : public race {
public:
  explicit all_of_many(std::vector<task<T>> parts)
    : race(policy::all), parts_(std::move(parts)) {}

  all_of_many(all_of_many&& other) noexcept
    : race(std::move(other)), parts_(std::move(other.parts_)) {}

  template <scoped_promise Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    if (!begin(waiting) || parts_.empty())
      return false;
    set_part_count(parts_.size());
    suspend();
    auto& parent = waiting.promise().scope();
    for (std::size_t i = 0; i < parts_.size(); ++i)
      entrants_.emplace_back(*this, i, parts_[i], parent);
    return true;
  }

  auto await_resume() {
    check();
    if (deciding_part())
      static_cast<void>(access::result(parts_[*deciding_part()])); // throws
    if constexpr (!std::is_void_v<T>) {
      std::vector<T> result;
      result.reserve(parts_.size());
      for (auto& x : parts_)
        result.push_back(access::result(x));
      return result;
    }
  }

private:
  void cancel_parts(const caf::error& reason) override {
    for (auto& x : entrants_)
      x.cancel(reason);
  }

  std::deque<entrant<T>> entrants_;
  std::vector<task<T>> parts_; // destroyed first, as in tuple_race
};

} // namespace detail

/// Runs several waits or tasks side by side and yields all their values as a
/// tuple, with `nothing` for void.
///
/// ```
/// auto [weather, news] = co_await when_all(ask_weather(ctx), ask_news(ctx));
/// ```
///
/// If one of them fails, the others are cancelled, and its exception is thrown
/// when they have unwound. They take turns on the actor of the body; only one
/// runs at a time.
///
/// @design docs/engine.md#coroutines.
template <class... As>
requires(!std::is_lvalue_reference_v<As> && ...)
  [[nodiscard]] auto when_all(As&&... xs) {
  return detail::all_of<detail::awaited_value_t<As>...>{
    detail::as_task<As>(std::move(xs))...};
}

/// Runs any number of tasks side by side and yields their values in order.
template <class T>
[[nodiscard]] auto when_all(std::vector<task<T>> xs) {
  return detail::all_of_many<T>{std::move(xs)};
}

/// Runs several waits or tasks side by side until the first one ends, and
/// yields its value in a variant whose index identifies it.
///
/// ```
/// auto first = co_await when_any(in.next(), ctx.sleep(30s));
/// if (first.index() == 1)
///   co_await out.send("are you still there?");
/// ```
///
/// The others are cancelled and have unwound when this returns. A cancelled
/// wait has taken nothing: an input stays for the next `next`. If the first one
/// ends with an exception, the exception is thrown.
///
/// @design docs/engine.md#coroutines.
template <class... As>
requires(sizeof...(As) > 0 && (!std::is_lvalue_reference_v<As> && ...))
  [[nodiscard]] auto when_any(As&&... xs) {
  return detail::any_of<detail::awaited_value_t<As>...>{
    detail::as_task<As>(std::move(xs))...};
}

} // namespace tertulia
