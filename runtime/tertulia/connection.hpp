// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/blocking_client.hpp>
#include <tertulia/detail/build.hpp>
#include <tertulia/detail/chunk_cursor.hpp>
#include <tertulia/json.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace tertulia {

template <class Stream>
class response_range;

/// The client's end of a connection, for threads.
///
/// ```
/// auto talk = echo.stream_bidi();
/// talk.send("hello");
/// talk.close();
/// for (auto& chunk : talk.responses())
///   std::cout << chunk << '\n';
/// auto result = talk.output();
/// ```
///
/// @errors   also, of whatever waits: `failed_precondition` on a thread of the
///           scheduler, which must not block.
/// @threads  `send`, `close`, `cancel`, `output` and `wait_until_done` from any
///           thread at any time; `responses` from one thread at a time.
/// @lifetime move-only, not while another thread uses it; dropping it before
///           the action has finished cancels the action. May outlive the
///           runtime.
/// @design   README §5.4 "Clients"; seed 001 §1.2.
template <class In, class Out, class Stream>
class connection {
public:
  using in_type = In;
  using out_type = Out;
  using stream_type = Stream;

  /// Private to this library.
  explicit connection(std::shared_ptr<detail::blocking_client> impl)
    : impl_(std::move(impl)),
      at_(std::make_unique<detail::chunk_cursor<Stream>>()) {}

  connection(connection&&) noexcept = default;

  connection& operator=(connection&& other) noexcept {
    if (this != &other) {
      drop();
      impl_ = std::move(other.impl_);
      at_ = std::move(other.at_);
    }
    return *this;
  }

  ~connection() {
    drop();
  }

  // -- sending ----------------------------------------------------------------

  /// Sends one input; waits while the body lags by a whole window. Takes an
  /// input or the arguments to build one.
  ///
  /// An input that was sent when the body ended without reading it is lost with
  /// the connection: `unread_inputs` counts those.
  ///
  /// @errors `failed_precondition` after `close` or after completion;
  ///         `cancelled` after a cancel; what ended the action otherwise;
  ///         `invalid_argument` if the input has no JSON form that the action
  ///         accepts. Nothing is sent then.
  template <class... Ts>
  requires detail::buildable_from<In, Ts...>
  void send(Ts&&... xs) {
    impl_->send(payload::of(detail::build<In>(std::forward<Ts>(xs)...)),
                std::nullopt);
  }

  /// As `send`, but waits no longer than `within`; zero does not wait.
  /// @errors also `deadline_exceeded`; nothing is sent then.
  template <class... Ts>
  requires detail::buildable_from<In, Ts...>
  void send_within(caf::timespan within, Ts&&... xs) {
    impl_->send(payload::of(detail::build<In>(std::forward<Ts>(xs)...)),
                detail::blocking_client::limit_of(within));
  }

  /// Says that no further input comes. What was sent is still delivered.
  /// Idempotent.
  void close() {
    impl_->close();
  }

  /// Cancels the action: its waits fail and it unwinds. Idempotent; does
  /// nothing once the action has finished.
  void cancel() {
    impl_->cancel();
  }

  // -- receiving --------------------------------------------------------------

  /// Returns the chunks of this turn as they come, for a range-based `for`.
  ///
  /// The range ends at the end of the turn; call again for the next one. It
  /// ends for good when the action finishes. Leaving the loop early loses
  /// nothing: the next call goes on behind the chunk that was last seen.
  ///
  /// @param within longest wait for each chunk; for ever if empty.
  /// @errors what ended the action, after the chunks that it sent before;
  ///         `deadline_exceeded` when a wait was too long: call again.
  [[nodiscard]] response_range<Stream>
  responses(std::optional<caf::timespan> within = std::nullopt) {
    return response_range<Stream>{*impl_, *at_, within};
  }

  /// Waits for the result of the action.
  ///
  /// Chunks that nobody has read by then are dropped, unless another thread is
  /// in a loop over `responses`, which is then left to read them.
  ///
  /// @param within longest wait; for ever if empty.
  /// @errors what ended the action; `deadline_exceeded` when the wait was too
  ///         long: call again.
  Out output(std::optional<caf::timespan> within = std::nullopt) {
    auto value = impl_->output(detail::blocking_client::limit_of(within));
    try {
      return std::move(value).template take<Out>();
    } catch (...) {
      impl_->reject(current_exception_to_error());
    }
  }

  /// Whether the action has finished and its last chunk was read; on the thread
  /// that reads.
  [[nodiscard]] bool finished() const {
    return at_->empty() && impl_->finished();
  }

  /// How many of the inputs that were sent the body did not read before it
  /// ended, the last ones of them; 0 before it has. A connection that was lost
  /// cannot say, so all of them count as unread then.
  [[nodiscard]] std::uint64_t unread_inputs() const {
    return impl_->unread_inputs();
  }

  /// Returns what a conversation without a store had come to by the end of its
  /// last good turn, once it has failed: nobody else keeps that, and the client
  /// can go on from it with `with_state` or `with_init`. Empty before the end,
  /// with a store, and if the connection was lost. The details of the error
  /// have the same as JSON, as `state`.
  [[nodiscard]] auto last_state() const requires detail::has_state<Out> {
    return detail::state_in<Out>(impl_->last_state());
  }

  /// Waits until the action has finished.
  /// @param within longest wait; zero only looks.
  /// @returns whether it has.
  bool wait_until_done(caf::timespan within) {
    return impl_->wait_until_done(detail::blocking_client::limit_of(within));
  }

private:
  void drop() noexcept {
    if (impl_)
      impl_->cancel();
  }

  std::shared_ptr<detail::blocking_client> impl_;
  std::unique_ptr<detail::chunk_cursor<Stream>> at_; // ranges refer to it
};

/// A connection to an action whose types are not known here.
using json_connection = connection<json, json, json>;

/// The chunks of one turn.
///
/// @threads  only on the thread that made it.
/// @lifetime within that of its connection.
template <class Stream>
class response_range {
public:
  /// Single pass: every `++` waits for the next chunk.
  class iterator {
  public:
    using iterator_concept = std::input_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = Stream;
    using difference_type = std::ptrdiff_t;
    using pointer = Stream*;
    using reference = Stream&;

    iterator() = default;

    explicit iterator(response_range& of) noexcept : of_(&of) {}

    Stream& operator*() const noexcept {
      return *of_->current_;
    }

    Stream* operator->() const noexcept {
      return &*of_->current_;
    }

    iterator& operator++() {
      of_->advance();
      return *this;
    }

    void operator++(int) {
      of_->advance();
    }

    bool operator==(std::default_sentinel_t) const noexcept {
      return !of_->current_;
    }

  private:
    response_range* of_ = nullptr;
  };

  /// Private to this library.
  response_range(detail::blocking_client& from,
                 detail::chunk_cursor<Stream>& at,
                 std::optional<caf::timespan> within)
    : from_(from), at_(at), within_(within) {
    from_.start_reading();
  }

  response_range(const response_range&) = delete;
  response_range& operator=(const response_range&) = delete;

  ~response_range() {
    from_.stop_reading();
  }

  /// Waits for the first chunk.
  iterator begin() {
    advance();
    return iterator{*this};
  }

  [[nodiscard]] std::default_sentinel_t end() const noexcept {
    return std::default_sentinel;
  }

  /// Whether the range has ended because the turn has, and not the action.
  [[nodiscard]] bool turn_ended() const noexcept {
    return turn_ended_;
  }

private:
  void advance() {
    using found = detail::blocking_client::found;
    current_.reset();
    while (at_.empty()) {
      chunk_batch batch;
      const auto what
        = from_.read(batch, detail::blocking_client::limit_of(within_));
      if (what != found::chunks) {
        turn_ended_ = what == found::turn_end;
        return;
      }
      try {
        at_.load(std::move(batch));
      } catch (...) {
        from_.reject(current_exception_to_error());
      }
    }
    current_.emplace(at_.take());
  }

  detail::blocking_client& from_;
  detail::chunk_cursor<Stream>& at_;
  std::optional<caf::timespan> within_;
  std::optional<Stream> current_;
  bool turn_ended_ = false;
};

} // namespace tertulia
