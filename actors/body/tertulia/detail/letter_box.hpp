// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/host.hpp>
#include <tertulia/status.hpp>

#include <caf/actor_cast.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

namespace tertulia::detail {

/// Throws `resource_exhausted`: the body has not received this many messages.
[[noreturn]] void raise_unreceived(std::size_t count);

/// Messages of one type from other actors to a body that it has not received.
///
/// @threads an actor adds messages, the actor of the body takes them.
template <class T>
class letters {
public:
  /// Maximum number of messages that are kept.
  static constexpr std::size_t capacity = 1024;

  /// Keeps a message.
  /// @returns the number of the wait to wake; 0 for none.
  /// @errors throws `resource_exhausted`.
  std::uint64_t add(T x) {
    const std::lock_guard guard{mutex_};
    if (pending_.size() >= capacity)
      raise_unreceived(capacity);
    pending_.push_back(std::move(x));
    return std::exchange(waiter_, 0);
  }

  /// Takes the oldest message; empty without one.
  std::optional<T> take() {
    const std::lock_guard guard{mutex_};
    if (pending_.empty())
      return std::nullopt;
    std::optional<T> result{std::move(pending_.front())};
    pending_.pop_front();
    return result;
  }

  enum class registration { done, not_needed, refused };

  /// Registers the wait to wake, which is not needed if there is a message, and
  /// refused while another one is registered.
  registration wait(std::uint64_t number) {
    const std::lock_guard guard{mutex_};
    if (waiter_ != 0)
      return registration::refused;
    if (!pending_.empty())
      return registration::not_needed;
    waiter_ = number;
    return registration::done;
  }

  void stop_waiting(std::uint64_t number) {
    const std::lock_guard guard{mutex_};
    if (waiter_ == number)
      waiter_ = 0;
  }

private:
  std::mutex mutex_;
  std::deque<T> pending_;
  std::uint64_t waiter_ = 0;
};

/// Handle of an actor that takes messages of one type for a body, and confirms
/// each.
template <class T>
using letter_box = protocol<caf::result<void>(T)>;

template <class T>
typename letter_box<T>::behavior_type
run_letter_box(typename letter_box<T>::pointer self,
               const std::shared_ptr<letters<T>>& to, const host_actor& owner) {
  return {[=](T& x) -> caf::result<void> {
    try {
      if (const auto number = to->add(std::move(x)))
        self->send(owner, done_atom_v, number);
      return caf::unit;
    } catch (...) {
      return current_exception_to_error();
    }
  }};
}

/// The letter boxes of one body. They end with it.
///
/// @threads only on the actor of the body.
class letter_boxes {
public:
  explicit letter_boxes(host_actor::pointer self) noexcept : self_(self) {}

  letter_boxes(const letter_boxes&) = delete;
  letter_boxes& operator=(const letter_boxes&) = delete;

  ~letter_boxes();

  /// Returns the letter box for a type, which the first call makes.
  template <class T>
  letter_box<T> address_of() {
    return caf::actor_cast<letter_box<T>>(find<T>().address);
  }

  template <class T>
  std::shared_ptr<letters<T>> letters_of() {
    return std::static_pointer_cast<letters<T>>(find<T>().kept);
  }

private:
  struct entry {
    std::type_index type;
    std::shared_ptr<void> kept;
    caf::strong_actor_ptr address;
  };

  template <class T>
  entry& find() {
    for (auto& x : entries_)
      if (x.type == typeid(T))
        return x;
    auto kept = std::make_shared<letters<T>>();
    auto address
      = self_->spawn<caf::hidden>(run_letter_box<T>, kept, host_actor{self_});
    return entries_.emplace_back(
      entry{typeid(T), std::move(kept),
            caf::actor_cast<caf::strong_actor_ptr>(address)});
  }

  host_actor::pointer self_;
  std::vector<entry> entries_;
};

/// Wait for a message of another actor.
template <class T>
class [[nodiscard]] letter_wait final : public wait {
public:
  explicit letter_wait(std::shared_ptr<letters<T>> from)
    : from_(std::move(from)) {}

  letter_wait(letter_wait&&) noexcept = default;

  ~letter_wait() {
    if (is_linked())
      stop();
  }

  template <scoped_promise Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    if (!begin(waiting))
      return false;
    id_ = owner().register_wait(*this);
    using registration = typename letters<T>::registration;
    const auto registered = from_->wait(id_);
    if (registered == registration::done) {
      suspend();
      return true;
    }
    owner().take_wait(id_);
    if (registered == registration::refused)
      fail_with(fail(errc::failed_precondition,
                     "another part of the body waits for such a message"));
    return false;
  }

  void abort(const caf::error& reason) override {
    stop();
    wait::abort(reason);
  }

  T await_resume() {
    check();
    auto result = from_->take();
    if (!result) // another part of the body has taken it
      raise(fail(errc::failed_precondition,
                 "another part of the body receives these messages"));
    return std::move(*result);
  }

private:
  void stop() {
    from_->stop_waiting(id_);
    owner().take_wait(id_);
  }

  std::shared_ptr<letters<T>> from_;
  std::uint64_t id_ = 0;
};

} // namespace tertulia::detail
