// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/chunks.hpp>
#include <tertulia/detail/access.hpp>
#include <tertulia/detail/build.hpp>
#include <tertulia/detail/chunk_cursor.hpp>
#include <tertulia/detail/last_state.hpp>
#include <tertulia/detail/nested_connection.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace tertulia {

namespace detail {

template <class In>
class [[nodiscard]] nested_send final : public nested_wait {
public:
  template <class... Ts>
  explicit nested_send(nested_connection& connection, Ts&&... xs)
    : nested_wait(connection),
      value_(
        connection.prepare(payload::of(build<In>(std::forward<Ts>(xs)...)))) {}

  nested_send(nested_send&&) noexcept = default;

  bool is_ready() override {
    if (auto send_error = connection().end.send_error()) {
      fail_with(std::move(send_error));
      return true;
    }
    if (!connection().end.has_input_credit())
      return false;
    connection().end.spend_input_credit();
    has_credit_ = true;
    return true;
  }

  void await_resume() {
    // Woken with a credit, but cancelled before it ran: others may use it.
    if (has_credit_ && cancelled())
      connection().return_input_credit();
    check();
    if (const auto send_error = connection().end.send_error())
      raise(send_error);
    connection().send(std::move(value_));
  }

private:
  payload value_;
  bool has_credit_ = false;
};

template <class Stream>
class [[nodiscard]] nested_next final : public nested_wait {
public:
  nested_next(nested_connection& connection,
              chunk_cursor<Stream>& cursor) noexcept
    : nested_wait(connection), cursor_(&cursor) {}

  nested_next(nested_next&&) noexcept = default;

  bool is_ready() override {
    if (!connection().set_reader(*this)) {
      fail_with(fail(errc::failed_precondition,
                     "another part of the body waits for a chunk already"));
      return true;
    }
    if (!cursor_->empty())
      return true;
    connection().end.count_consumed(cursor_->release());
    connection().grant(false);
    if (connection().end.next() != client_end::arrival::none)
      return true;
    connection().grant(true);
    return false;
  }

  std::optional<Stream> await_resume() {
    connection().remove_wait(*this);
    check();
    if (cursor_->empty())
      switch (connection().end.next()) {
        case client_end::arrival::chunks:
          try {
            cursor_->load(connection().end.take_chunks());
          } catch (...) {
            connection().reject(current_exception_to_error());
          }
          break;
        case client_end::arrival::turn_end:
          connection().end.take_turn_end();
          connection().grant(false);
          return std::nullopt;
        default:
          if (const auto& failure = connection().end.failure())
            raise(failure);
          return std::nullopt;
      }
    return cursor_->take();
  }

private:
  chunk_cursor<Stream>* cursor_;
};

template <class Out>
class [[nodiscard]] nested_output final : public nested_wait {
public:
  using nested_wait::nested_wait;

  bool is_ready() override {
    // Unread chunks will not be read any more and must not delay the end.
    connection().end.drop_unread();
    connection().grant(true);
    return connection().end.ended();
  }

  Out await_resume() {
    check();
    if (const auto& failure = connection().end.failure())
      raise(failure);
    auto output = connection().end.output();
    try {
      return std::move(output).template take<Out>();
    } catch (...) {
      connection().reject(current_exception_to_error());
    }
  }
};

} // namespace detail

/// Connection of a body to another flow, as its client: nothing blocks,
/// everything is awaited.
///
/// ```
/// auto talk = co_await shout.open(ctx);
/// co_await talk.send("hello");
/// talk.close();
/// while (auto word = co_await talk.next())
///   co_await out.send(*word);
/// co_return co_await talk.output();
/// ```
///
/// @threads  only on the actor of its body.
/// @lifetime move-only, but not while one of its waits is pending; dropping it
///           before the action has finished cancels the action, or leaves it if
///           it is a kept run.
/// @design   docs/engine.md#coroutines.
template <class In, class Out, class Stream>
class async_connection {
public:
  /// Sends one input; waits for credit. Takes an input or the arguments to
  /// build one.
  /// @errors `failed_precondition` after `close` or after completion;
  ///         `cancelled` after a cancel; otherwise the error that ended the
  ///         action.
  template <class... Ts>
  requires detail::buildable_from<In, Ts...>
  [[nodiscard]] auto send(Ts&&... xs) {
    detail::check_awaited_arguments<Ts...>();
    return detail::nested_send<In>{*impl_, std::forward<Ts>(xs)...};
  }

  /// Waits for the next chunk. Only one part of a body may wait at a time.
  /// @returns the chunk; empty at the end of a turn and at the end of the
  ///          stream; `finished` distinguishes them.
  /// @errors  the error that ended the action, after all chunks that it sent;
  ///          `failed_precondition` if another part of the body waits already.
  [[nodiscard]] auto next() {
    return detail::nested_next<Stream>{*impl_, *cursor_};
  }

  /// Waits for the output. Chunks that are unread by then are dropped.
  /// @errors the error that ended the action.
  [[nodiscard]] auto output() {
    cursor_->drop();
    impl_->end.count_consumed(cursor_->release());
    return detail::nested_output<Out>{*impl_};
  }

  /// Returns whether the action has ended and all its chunks were read.
  [[nodiscard]] bool finished() const noexcept {
    return cursor_->empty()
           && impl_->end.next() == detail::client_end::arrival::end;
  }

  /// Returns the session of a conversation, to which `with_session_id` returns
  /// later; empty for other actions.
  [[nodiscard]] const session_id& session() const noexcept {
    return impl_->end.session();
  }

  /// Returns the id of the trace of this connection, 32 hexadecimal digits;
  /// empty if it is not traced.
  [[nodiscard]] const std::string& trace_id() const noexcept {
    return impl_->end.trace_id();
  }

  /// Returns the snapshot with the state at the end of the turn that was read
  /// last, before that the one from which the conversation continues; empty
  /// without one. It is the last good state if a turn fails.
  [[nodiscard]] const snapshot_id& last_snapshot() const noexcept {
    return impl_->end.last_snapshot();
  }

  /// As `connection::turn_found`.
  [[nodiscard]] turn_progress turn_found() const noexcept {
    return impl_->end.turn_found();
  }

  /// As `connection::opened_in_turn`.
  [[nodiscard]] bool opened_in_turn() const noexcept {
    return impl_->end.opened_in_turn();
  }

  /// Returns the reason for which the turn that was read last ended; empty if
  /// the program gave none.
  [[nodiscard]] std::optional<ai::finish_reason>
  finish_reason() const noexcept {
    return impl_->end.finish_reason();
  }

  /// Returns the number of inputs that were sent but not read by the body
  /// before it ended, as `connection::unread_inputs`.
  [[nodiscard]] std::uint64_t unread_inputs() const noexcept {
    return impl_->end.unread_inputs();
  }

  /// Returns the last state of a failed conversation, as
  /// `connection::last_state`. Here the details of the error do not contain it:
  /// an error that the body does not catch would carry it to the body's own
  /// client.
  [[nodiscard]] auto last_state() const requires detail::has_state<Out> {
    return detail::take_state<Out>(impl_->end.last_state());
  }

  /// Closes the input: no further input follows. Idempotent.
  void close() {
    impl_->close();
  }

  /// Cancels the action; it ends with `cancelled`. Idempotent.
  void cancel() {
    impl_->cancel();
  }

  /// Returns the position in the log, as `connection::position`.
  [[nodiscard]] cursor position() const {
    // Unread chunks may be those of a run that was lost.
    const auto read = impl_->end.position();
    return {impl_->end.run(),
            read - std::min<std::uint64_t>(read, cursor_->size())};
  }

  /// Leaves a kept run, as `connection::detach`.
  cursor detach() {
    auto result = position();
    cursor_->drop();
    impl_->leave();
    return result;
  }

private:
  friend detail::access;

  explicit async_connection(std::unique_ptr<detail::nested_connection> impl)
    : impl_(std::move(impl)),
      cursor_(std::make_unique<detail::chunk_cursor<Stream>>()) {}

  std::unique_ptr<detail::nested_connection> impl_;
  std::unique_ptr<detail::chunk_cursor<Stream>> cursor_; // waits refer to it
};

} // namespace tertulia
