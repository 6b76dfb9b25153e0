// SPDX-License-Identifier: BSD-3-Clause

#pragma once

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

/// Reply type of a typed actor to a message: a value, void, or a tuple.
template <class Handle, class... Ts>
using reply_of_t = typename single_reply<caf::response_type_t<
  typename Handle::signatures,
  typename caf::detail::implicit_conversions<std::decay_t<Ts>>::type...>>::type;

/// Wait for the reply of another actor.
template <class Reply, class Handle, class... Ts>
class [[nodiscard]] reply_wait final : public wait {
public:
  reply_wait(Handle other, caf::timespan within, Ts... xs)
    : other_(std::move(other)), within_(within), words_(std::move(xs)...) {}

  reply_wait(reply_wait&&) noexcept = default;

  ~reply_wait() {
    if (is_linked())
      owner().claim(id_);
  }

  template <scoped_promise Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    if (!begin(waiting))
      return false;
    if (!other_) {
      fail_with(fail(errc::invalid_argument, "there is no actor to ask"));
      return false;
    }
    id_ = owner().enlist(*this, within_, is_vital);
    suspend();
    if (other_.node() != owner().self()->node())
      owner().watch_for(id_, other_.address());
    std::apply([this](Ts&... xs) { ask(std::move(xs)...); }, words_);
    return true;
  }

  void abort(const caf::error& reason) override {
    owner().claim(id_);
    forget_question();
    wait::abort(reason);
  }

  Reply await_resume() {
    check();
    if constexpr (!std::is_void_v<Reply>)
      return std::move(*reply_);
  }

private:
  /// True if a time-out cancels the connection. A change or a snapshot of a
  /// session that does not answer may still happen after the wait, so the body
  /// cannot continue.
  static constexpr bool is_vital
    = std::is_same_v<Handle,
                     session_actor> || std::is_same_v<Handle, responder_actor>;

  /// Key of a request, held by CAF's response handlers. If the wait is gone
  /// when the reply arrives, the reply is dropped.
  struct question {
    host& at;
    std::uint64_t id;

    template <class... Us>
    void answered(Us&&... values) const {
      if (auto* x = static_cast<reply_wait*>(at.claim(id))) {
        x->reply_.emplace(std::forward<Us>(values)...);
        x->wake();
      } else if constexpr (std::is_same_v<Reply, opened>) {
        // The wait is gone, but the client of the connection is this actor,
        // which lives on: cancel the connection.
        (at.self()->send(values.connection, cancel_atom_v), ...);
      }
      at.settle();
    }

    void failed(const caf::error& reason) const {
      if (auto* x = static_cast<reply_wait*>(at.claim(id))) {
        x->fail_with(reason);
        x->wake();
      }
      at.settle();
    }
  };

  void ask(Ts&&... xs) {
    // The host limits the time: setting and cancelling a time-out in CAF's
    // clock costs more than the request.
    auto pending
      = owner().self()->request(other_, caf::infinite, std::move(xs)...);
    request_ = pending.id();
    then(pending, question{owner(), id_}, std::type_identity<Reply>{});
  }

  /// Makes CAF drop the response handlers of a request that may never be
  /// answered, in the way of its own time-outs.
  void forget_question() {
    // A connection that opens too late must be cancelled: keep its handlers.
    if constexpr (!std::is_same_v<Reply, opened>) {
      const auto self = owner().self();
      self->eq_impl(request_, self->ctrl(), self->context(),
                    caf::make_error(caf::sec::request_timeout));
    }
  }

  template <class Pending, class T>
  static void then(Pending& pending, question of, std::type_identity<T>) {
    pending.then([of](T& value) { of.answered(std::move(value)); },
                 [of](const caf::error& reason) { of.failed(reason); });
  }

  template <class Pending>
  static void then(Pending& pending, question of, std::type_identity<void>) {
    pending.then([of] { of.answered(); },
                 [of](const caf::error& reason) { of.failed(reason); });
  }

  template <class Pending, class... Us>
  static void
  then(Pending& pending, question of, std::type_identity<std::tuple<Us...>>) {
    pending.then([of](Us&... values) { of.answered(std::move(values)...); },
                 [of](const caf::error& reason) { of.failed(reason); });
  }

  Handle other_;
  caf::timespan within_;
  std::tuple<Ts...> words_;
  std::uint64_t id_ = 0;
  caf::message_id request_;
  std::optional<std::conditional_t<std::is_void_v<Reply>, bool, Reply>> reply_;
};

} // namespace tertulia::detail
