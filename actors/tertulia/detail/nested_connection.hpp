// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/client_end.hpp>
#include <tertulia/detail/host.hpp>

#include <memory>
#include <vector>

namespace tertulia::detail {

/// A wait of a body for something that its nested connection says.
class nested_wait : public wait {
public:
  explicit nested_wait(class nested_connection& of) noexcept : of_(&of) {}

  nested_wait(nested_wait&&) noexcept = default;

  ~nested_wait();

  template <scoped_promise Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    return begin(waiting) && !settled() && enter();
  }

  void abort(const caf::error& reason) override;

  /// Whether the wait is over. Asked when it begins and whenever the connection
  /// said something; saying yes may reserve what was waited for, but the wait
  /// may still be cancelled before its coroutine runs.
  virtual bool settled() = 0;

protected:
  [[nodiscard]] nested_connection& of() const noexcept {
    return *of_;
  }

private:
  bool enter();

  nested_connection* of_;
};

/// A connection to which a body is the client: its connection actor is the
/// sink, so calling another flow costs no further actor.
///
/// @threads only on the actor of its host.
/// @lifetime lives in the body; its end cancels what has not finished.
class nested_connection {
public:
  /// @param what the action if it is of this process: inputs are then checked
  ///             before they are sent.
  nested_connection(host& owner, connection_actor peer, const opened& first,
                    std::uint32_t chunk_window,
                    std::shared_ptr<const action> what = nullptr);

  nested_connection(const nested_connection&) = delete;
  nested_connection& operator=(const nested_connection&) = delete;

  ~nested_connection();

  [[nodiscard]] const connection_actor& peer() const noexcept {
    return peer_;
  }

  [[nodiscard]] host& owner() const noexcept {
    return owner_;
  }

  /// Takes note of what the connection said and wakes who waited for it.
  template <class Message>
  void on(Message&& x) {
    end.on(std::forward<Message>(x));
    notify();
  }

  void lost(caf::error reason) {
    end.lost(std::move(reason));
    notify();
  }

  /// Prepares an input for `send`.
  /// @errors throws `invalid_argument` if the action does not accept it, or it
  ///         cannot travel to where the connection is.
  [[nodiscard]] payload pack(payload value) const;

  /// Sends an input with all credit that can ride along.
  /// @pre a credit was spent for it.
  void send(payload value);

  void close();
  void cancel();

  /// Ends it because what it said cannot be read: this and every later wait
  /// throws the reason.
  [[noreturn]] void reject(caf::error reason);

  /// Sends credit for chunks if some is due.
  void grant(bool waiting);

  void watch(nested_wait& x) {
    watchers_.push_back(&x);
  }

  /// Notes who reads the chunks, until it is forgotten.
  /// @returns false if somebody else does.
  bool read_by(const nested_wait& x) noexcept {
    if (reader_ != nullptr && reader_ != &x)
      return false;
    reader_ = &x;
    return true;
  }

  void forget(const nested_wait& x) noexcept {
    std::erase(watchers_, &x);
    if (reader_ == &x)
      reader_ = nullptr;
  }

  client_end end;

private:
  void notify();

  host& owner_;
  connection_actor peer_;
  std::shared_ptr<const action> what_;
  std::vector<nested_wait*> watchers_;
  const nested_wait* reader_ = nullptr;
};

} // namespace tertulia::detail
