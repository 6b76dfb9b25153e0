// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/host.hpp>

#include <caf/send.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include "exchange.hpp"
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>

namespace tertulia::openai {

/// Wait on the actor of a body for work of an exchange on the I/O thread. A
/// cancel closes the exchange's connection and ends the wait at once: the work
/// does not refer to the body.
template <class T>
class exchange_wait final : public detail::wait {
public:
  /// @param within time after which the exchange is closed.
  exchange_wait(std::shared_ptr<exchange> with, boost::asio::any_io_executor at,
                boost::asio::awaitable<T> work, caf::timespan within)
    : with_(std::move(with)), at_(std::move(at)), work_(std::move(work)),
      within_(within) {}

  exchange_wait(exchange_wait&&) noexcept = default;

  ~exchange_wait() {
    if (is_linked())
      give_up();
  }

  template <detail::scoped_promise Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    if (!begin(waiting))
      return false;
    id_ = owner().enlist(*this, within_);
    suspend();
    outcome_ = std::make_shared<outcome>();
    boost::asio::co_spawn(at_, std::move(work_),
                          [with = with_, to = outcome_,
                           self = detail::host_actor{owner().self()},
                           id = id_](std::exception_ptr failure, T value) {
                            to->failure = std::move(failure);
                            to->value = std::move(value);
                            caf::anon_send(self, done_atom_v, id);
                          });
    return true;
  }

  void abort(const caf::error& reason) override {
    give_up();
    detail::wait::abort(reason);
  }

  T await_resume() {
    check();
    if (outcome_->failure)
      std::rethrow_exception(outcome_->failure);
    return std::move(outcome_->value);
  }

private:
  /// Result of the work. It is written on the I/O thread before the completion
  /// message is sent to the actor, and read after that message.
  struct outcome {
    std::exception_ptr failure;
    T value;
  };

  void give_up() {
    owner().claim(id_);
    with_->close_soon();
  }

  std::shared_ptr<exchange> with_;
  boost::asio::any_io_executor at_;
  boost::asio::awaitable<T> work_;
  caf::timespan within_;
  std::uint64_t id_ = 0;
  std::shared_ptr<outcome> outcome_;
};

} // namespace tertulia::openai
