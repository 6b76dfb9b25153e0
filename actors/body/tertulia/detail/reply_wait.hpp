// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/decline.hpp>
#include <tertulia/detail/host.hpp>

#include <caf/actor.hpp>
#include <caf/duration.hpp>
#include <caf/response_type.hpp>
#include <caf/sec.hpp>
#include <caf/timespan.hpp>

#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tertulia::detail {

template <class Replies>
struct single_reply;

template <>
struct single_reply<caf::detail::type_list<>> {
  using type = void;
};

template <>
struct single_reply<caf::detail::type_list<void>> {
  using type = void;
};

template <class T>
struct single_reply<caf::detail::type_list<T>> {
  using type = T;
};

template <class T, class U, class... Ts>
struct single_reply<caf::detail::type_list<T, U, Ts...>> {
  using type = std::tuple<T, U, Ts...>;
};

template <class Handle, class... Ts>
struct reply_of {
  using response = caf::response_type<
    typename Handle::signatures,
    typename caf::detail::implicit_conversions<std::decay_t<Ts>>::type...>;

  static_assert(response::valid, "the asked actor does not take these "
                                 "arguments: see the signatures of its handle");

  using type = typename single_reply<typename response::type>::type;
};

/// Reply type of a typed actor to a message: a value, void, or a tuple.
template <class Handle, class... Ts>
using reply_of_t = typename reply_of<Handle, Ts...>::type;

/// Wait for the reply of another actor.
template <class Reply, class Handle, class... Ts>
class [[nodiscard]] reply_wait final : public wait {
public:
  reply_wait(Handle other, caf::timespan within, Ts... xs)
    : peer_(std::move(other)), within_(within), arguments_(std::move(xs)...) {}

  reply_wait(reply_wait&&) noexcept = default;

  ~reply_wait() {
    if (is_linked())
      owner().take_wait(id_);
  }

  template <scoped_promise Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    if (!begin(waiting))
      return false;
    if (!peer_) {
      fail_with(
        fail(errc::invalid_argument, "the handle of the actor is empty"));
      return false;
    }
    id_ = owner().register_wait(*this, within_, is_vital);
    suspend();
    if (is_watched || peer_.node() != owner().self()->node())
      owner().watch_peer(id_,
                         caf::actor_cast<caf::actor_control_block*>(peer_));
    std::apply([this](Ts&... xs) { ask(std::move(xs)...); }, arguments_);
    return true;
  }

  void abort(const caf::error& reason) override {
    owner().take_wait(id_);
    drop_handlers();
    wait::abort(reason);
  }

  Reply await_resume() {
    check();
    if constexpr (!std::is_void_v<Reply>)
      return std::move(*reply_);
  }

private:
  /// True if the death of the actor ends the wait. The connection itself
  /// watches its session, and a front desk answers before it ends.
  static constexpr bool is_watched
    = !std::is_same_v<
        Handle, session_actor> && !std::is_same_v<Handle, front_desk_actor>;

  /// True if a time-out cancels the connection. A change of a session that does
  /// not answer may still happen after the wait, so the body cannot continue.
  static constexpr bool is_vital = std::is_same_v<Handle, session_actor>;

  /// Key of a request, held by CAF's response handlers. If the wait is gone
  /// when the reply arrives, the reply is dropped.
  struct reply_handler {
    host& owner;
    std::uint64_t id;

    template <class... Us>
    void on_reply(Us&&... values) const {
      if (auto* x = static_cast<reply_wait*>(owner.take_wait(id))) {
        x->reply_.emplace(std::forward<Us>(values)...);
        x->wake();
      } else if constexpr (std::is_same_v<Reply, open_result>) {
        // The wait is gone, but the client of the connection is this actor,
        // which lives on.
        (decline(values), ...);
      }
      owner.drain();
    }

    void on_error(const caf::error& reason) const {
      if (owner.expects_death(id, reason))
        return; // its down message says why it has died
      if (auto* x = static_cast<reply_wait*>(owner.take_wait(id))) {
        x->fail_with(reason);
        x->wake();
      }
      owner.drain();
    }
  };

  void ask(Ts&&... xs) {
    // The host limits the time: setting and cancelling a time-out in CAF's
    // clock costs more than the request.
    auto pending
      = owner().self()->request(peer_, caf::infinite, std::move(xs)...);
    request_ = pending.id();
    set_handlers(pending, reply_handler{owner(), id_},
                 std::type_identity<Reply>{});
  }

  /// Makes CAF drop the response handlers of a request that may never be
  /// answered, in the way of its own time-outs.
  void drop_handlers() {
    // A connection that opens too late must be cancelled: keep its handlers.
    if constexpr (!std::is_same_v<Reply, open_result>) {
      const auto self = owner().self();
      self->eq_impl(request_, self->ctrl(), self->context(),
                    caf::make_error(caf::sec::request_timeout));
    }
  }

  template <class Pending, class T>
  static void
  set_handlers(Pending& pending, reply_handler handler, std::type_identity<T>) {
    pending.then([handler](T& value) { handler.on_reply(std::move(value)); },
                 [handler](const caf::error& reason) {
                   handler.on_error(reason);
                 });
  }

  template <class Pending>
  static void set_handlers(Pending& pending, reply_handler handler,
                           std::type_identity<void>) {
    pending.then([handler] { handler.on_reply(); },
                 [handler](const caf::error& reason) {
                   handler.on_error(reason);
                 });
  }

  template <class Pending, class... Us>
  static void set_handlers(Pending& pending, reply_handler handler,
                           std::type_identity<std::tuple<Us...>>) {
    pending.then(
      [handler](Us&... values) { handler.on_reply(std::move(values)...); },
      [handler](const caf::error& reason) { handler.on_error(reason); });
  }

  Handle peer_;
  caf::timespan within_;
  std::tuple<Ts...> arguments_;
  std::uint64_t id_ = 0;
  caf::message_id request_;
  std::optional<std::conditional_t<std::is_void_v<Reply>, bool, Reply>> reply_;
};

} // namespace tertulia::detail
