// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/chunks.hpp>
#include <tertulia/detail/access.hpp>
#include <tertulia/detail/build.hpp>
#include <tertulia/detail/chunk_cursor.hpp>
#include <tertulia/detail/nested_connection.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace tertulia {

namespace detail {

template <class In>
class [[nodiscard]] nested_send final : public nested_wait {
public:
  template <class... Ts>
  explicit nested_send(nested_connection& of, Ts&&... xs)
    : nested_wait(of),
      value_(of.pack(payload::of(build<In>(std::forward<Ts>(xs)...)))) {}

  nested_send(nested_send&&) noexcept = default;

  bool settled() override {
    if (auto refusal = of().end.refusal()) {
      fail_with(std::move(refusal));
      return true;
    }
    if (!of().end.has_input_credit())
      return false;
    of().end.spend_input_credit();
    has_credit_ = true;
    return true;
  }

  void await_resume() {
    // Woken with a credit, but cancelled before it ran: others may use it.
    if (has_credit_ && cancelled())
      of().on(input_credit{1});
    check();
    if (const auto refusal = of().end.refusal())
      raise(refusal);
    of().send(std::move(value_));
  }

private:
  payload value_;
  bool has_credit_ = false;
};

template <class Stream>
class [[nodiscard]] nested_next final : public nested_wait {
public:
  nested_next(nested_connection& of, chunk_cursor<Stream>& at) noexcept
    : nested_wait(of), at_(&at) {}

  nested_next(nested_next&&) noexcept = default;

  bool settled() override {
    if (!of().read_by(*this)) {
      fail_with(fail(errc::failed_precondition,
                     "another part of the body waits for a chunk already"));
      return true;
    }
    if (!at_->empty())
      return true;
    of().end.consumed(at_->release());
    of().grant(false);
    if (of().end.next() != client_end::arrival::none)
      return true;
    of().grant(true);
    return false;
  }

  std::optional<Stream> await_resume() {
    of().forget(*this);
    check();
    if (at_->empty())
      switch (of().end.next()) {
        case client_end::arrival::chunks:
          try {
            at_->load(of().end.take_chunks());
          } catch (...) {
            of().reject(current_exception_to_error());
          }
          break;
        case client_end::arrival::turn_end:
          of().end.take_turn_end();
          of().grant(false);
          return std::nullopt;
        default:
          if (const auto& failure = of().end.failure())
            raise(failure);
          return std::nullopt;
      }
    return at_->take();
  }

private:
  chunk_cursor<Stream>* at_;
};

template <class Out>
class [[nodiscard]] nested_output final : public nested_wait {
public:
  using nested_wait::nested_wait;

  bool settled() override {
    // Unread chunks will not be read any more and must not delay the end.
    of().end.drop_unread();
    of().grant(true);
    return of().end.over();
  }

  Out await_resume() {
    check();
    if (const auto& failure = of().end.failure())
      raise(failure);
    auto output = of().end.output();
    try {
      return std::move(output).template take<Out>();
    } catch (...) {
      of().reject(current_exception_to_error());
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
///           before the action has finished cancels the action.
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
    return detail::nested_next<Stream>{*impl_, *at_};
  }

  /// Waits for the output. Chunks that are unread by then are dropped.
  /// @errors the error that ended the action.
  [[nodiscard]] auto output() {
    at_->drop();
    impl_->end.consumed(at_->release());
    return detail::nested_output<Out>{*impl_};
  }

  /// Returns whether the action has ended and all its chunks were read.
  [[nodiscard]] bool finished() const noexcept {
    return at_->empty()
           && impl_->end.next() == detail::client_end::arrival::over;
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
    return detail::state_in<Out>(impl_->end.last_state());
  }

  /// Closes the input: no further input follows. Idempotent.
  void close() {
    impl_->close();
  }

  /// Cancels the action; it ends with `cancelled`. Idempotent.
  void cancel() {
    impl_->cancel();
  }

private:
  friend detail::access;

  explicit async_connection(std::unique_ptr<detail::nested_connection> impl)
    : impl_(std::move(impl)),
      at_(std::make_unique<detail::chunk_cursor<Stream>>()) {}

  std::unique_ptr<detail::nested_connection> impl_;
  std::unique_ptr<detail::chunk_cursor<Stream>> at_; // waits refer to it
};

} // namespace tertulia
