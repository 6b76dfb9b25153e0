// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/client_end.hpp>
#include <tertulia/detail/host.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tertulia::detail {

class way_back;

/// A wait of a body for a message of its nested connection.
class nested_wait : public wait {
public:
  explicit nested_wait(class nested_connection& connection) noexcept
    : connection_(&connection) {}

  nested_wait(nested_wait&&) noexcept = default;

  ~nested_wait();

  template <scoped_promise Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    return begin(waiting) && !is_ready() && start_waiting();
  }

  void abort(const caf::error& reason) override;

  /// Returns whether the wait is over. Called when the wait begins and after
  /// each message of the connection. If it returns true, it may have reserved
  /// the awaited item, but the wait may still be cancelled before its coroutine
  /// runs.
  virtual bool is_ready() = 0;

protected:
  [[nodiscard]] nested_connection& connection() const noexcept {
    return *connection_;
  }

private:
  bool start_waiting();

  nested_connection* connection_;
};

/// A connection whose client is a body. The connection actor of that body is
/// the sink, so calling another flow costs no further actor.
///
/// @threads only on the actor of its host.
/// @lifetime lives in the body; its destructor cancels an unfinished action.
class nested_connection {
public:
  /// @param first  the answer to the opening.
  /// @param opened end of the client that has asked.
  /// @param action the action if it belongs to this process: inputs are then
  ///             checked before they are sent.
  nested_connection(host& owner, const open_result& first, client_end opened,
                    std::string key = {},
                    std::shared_ptr<const action> action = nullptr);

  nested_connection(const nested_connection&) = delete;
  nested_connection& operator=(const nested_connection&) = delete;

  ~nested_connection();

  /// Lets the client of a kept run of another node come back after a loss.
  /// @param first the request that was answered with the opening.
  /// @pre before the first input.
  void come_back_by(std::shared_ptr<way_back> way, const open_request& first);

  [[nodiscard]] const connection_actor& peer() const noexcept {
    return peer_;
  }

  /// Returns the key of the action.
  [[nodiscard]] const std::string& key() const noexcept {
    return key_;
  }

  [[nodiscard]] host& owner() const noexcept {
    return owner_;
  }

  /// Handles a message of the connection and wakes the waits that it ends.
  template <class Message>
  void on(Message&& x) {
    end.on(std::forward<Message>(x));
    if (end.has_unsent())
      send_again(end.due_inputs());
    if (end.is_skipping())
      grant(true);
    notify();
  }

  /// Returns an error if the end was not taken.
  caf::error on(completion&& x);

  /// Takes the credit of an input back that is not sent.
  void return_input_credit() {
    end.return_input_credit();
    notify();
  }

  /// Handles the loss of the connection: looks for its run again, if that may
  /// still be there.
  void on_lost(caf::error reason);

  /// Prepares an input for `send`.
  /// @errors throws `invalid_argument` if the action does not accept it, or if
  ///         it cannot be encoded for the node of the connection.
  [[nodiscard]] payload prepare(payload value) const;

  /// Sends an input together with all credit that can be granted.
  /// @pre a credit was spent for it.
  void send(payload value);

  void close();
  void cancel();

  /// Leaves a kept run, which goes on; cancels another one.
  void leave();

  /// Ends the connection because a message cannot be read: this and every later
  /// wait throws the reason.
  [[noreturn]] void reject(caf::error reason);

  /// Sends credit for chunks if some is due.
  void grant(bool waiting);

  void add_wait(nested_wait& x) {
    waits_.push_back(&x);
  }

  /// Makes a wait the reader of the chunks, until it is forgotten.
  /// @returns false if another wait is the reader.
  bool set_reader(const nested_wait& x) noexcept {
    if (reader_ != nullptr && reader_ != &x)
      return false;
    reader_ = &x;
    return true;
  }

  void remove_wait(const nested_wait& x) noexcept {
    std::erase(waits_, &x);
    if (reader_ == &x)
      reader_ = nullptr;
  }

  client_end end;

private:
  class search;

  void notify();

  /// Sends inputs again, and the close that has followed them.
  void send_again(std::vector<turn_input> inputs);

  void lose(caf::error reason);
  auto begin_to_wait();
  void look_for_desk(const caf::error& reason);
  void ask_desk();
  void on_returned(const open_result& x);
  void fail_to_return(const caf::error& reason);

  host& owner_;
  connection_actor peer_;
  std::string key_;
  std::shared_ptr<const action> action_;
  std::vector<nested_wait*> waits_;
  const nested_wait* reader_ = nullptr;
  std::shared_ptr<search> search_; // null if it cannot come back
};

} // namespace tertulia::detail
