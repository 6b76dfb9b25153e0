// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/abstract_actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/error.hpp>
#include <caf/invoke_message_result.hpp>
#include <caf/mailbox_element.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace tertulia::detail {

/// Numbers of an actor that many conversations share.
///
/// @threads all members.
class actor_counts {
public:
  void receive() noexcept {
    received_.fetch_add(1, std::memory_order_relaxed);
  }

  void handle() noexcept {
    handled_.fetch_add(1, std::memory_order_relaxed);
  }

  void commit() noexcept {
    commits_.fetch_add(1, std::memory_order_relaxed);
  }

  /// Tells that the actor has ended: CAF answers what is sent to it from now
  /// on, and what still waited.
  void end() noexcept {
    has_ended_.store(true, std::memory_order_relaxed);
  }

  /// Replaces the numbers of the actor that does the work of this one, which
  /// are added to its own; null if there is none. What waited for an earlier
  /// one waits no longer; its commits still count.
  void set_part(std::shared_ptr<const actor_counts> x) {
    const std::lock_guard guard{mutex_};
    if (part_ && part_ != x)
      commits_.fetch_add(part_->commits(), std::memory_order_relaxed);
    part_ = std::move(x);
  }

  /// Returns the number of messages that wait in the mailbox, or are handled; 0
  /// after the end of the actor.
  [[nodiscard]] std::uint64_t waiting() const {
    if (has_ended_.load(std::memory_order_relaxed))
      return 0;
    const std::lock_guard guard{mutex_};
    // In this order, so that no more were handled than received.
    const auto handled = handled_.load(std::memory_order_relaxed);
    const auto received = received_.load(std::memory_order_relaxed);
    const auto own = received > handled ? received - handled : 0;
    return own + (part_ ? part_->waiting() : 0);
  }

  /// Returns the number of transactions that were committed.
  [[nodiscard]] std::uint64_t commits() const {
    const std::lock_guard guard{mutex_};
    return commits_.load(std::memory_order_relaxed)
           + (part_ ? part_->commits() : 0);
  }

private:
  std::atomic<std::uint64_t> received_{0};
  std::atomic<std::uint64_t> handled_{0};
  std::atomic<std::uint64_t> commits_{0};
  std::atomic<bool> has_ended_{false};
  mutable std::mutex mutex_; // guards the member below
  std::shared_ptr<const actor_counts> part_;
};

/// Actor with numbers that other threads can read: CAF 0.17 does not tell how
/// many messages wait in a mailbox.
class counted_actor {
public:
  counted_actor() = default;
  counted_actor(const counted_actor&) = delete;
  counted_actor& operator=(const counted_actor&) = delete;

  [[nodiscard]] const std::shared_ptr<actor_counts>& counts() const noexcept {
    return counts_;
  }

protected:
  virtual ~counted_actor() = default;

private:
  const std::shared_ptr<actor_counts> counts_
    = std::make_shared<actor_counts>();
};

/// Actor whose mailbox is counted.
///
/// @tparam Base an event-based actor class.
/// @threads as `Base`.
template <class Base>
class with_counts final : public Base, public counted_actor {
public:
  using Base::Base;

  void enqueue(caf::mailbox_element_ptr x, caf::execution_unit* by) override {
    counts()->receive(); // first: it may be handled at once
    Base::enqueue(std::move(x), by);
  }

  caf::invoke_message_result consume(caf::mailbox_element& x) override {
    const auto result = Base::consume(x);
    if (result != caf::invoke_message_result::skipped) // else it waits on
      counts()->handle();
    return result;
  }

  bool cleanup(caf::error&& reason, caf::execution_unit* host) override {
    counts()->end();
    return Base::cleanup(std::move(reason), host);
  }
};

/// Returns the numbers of an actor; null if it has none, or is on another node.
[[nodiscard]] inline std::shared_ptr<actor_counts>
counts_of(const caf::strong_actor_ptr& x) {
  if (!x)
    return nullptr;
  const auto* found = dynamic_cast<const counted_actor*>(
    caf::actor_cast<caf::abstract_actor*>(x));
  return found != nullptr ? found->counts() : nullptr;
}

} // namespace tertulia::detail
