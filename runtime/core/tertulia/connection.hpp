// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/access.hpp>
#include <tertulia/detail/blocking_client.hpp>
#include <tertulia/detail/build.hpp>
#include <tertulia/detail/chunk_cursor.hpp>
#include <tertulia/detail/last_state.hpp>
#include <tertulia/json_value.hpp>

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace tertulia {

template <class Stream>
class response_range;

namespace detail {

/// Type of chunks that can mark the end of a turn, such as `ai::stream_chunk`.
template <class T>
concept marks_turn_end = requires(T& x) {
  { x.end_turn } -> std::same_as<bool&>;
};

} // namespace detail

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
/// @errors   also, of every call that waits: `failed_precondition` on a thread
///           of the scheduler, which must not block.
/// @threads  `send`, `close`, `cancel`, `output` and `wait_until_done` from any
///           thread at any time; `responses` from one thread at a time.
/// @lifetime move-only; must not be moved while another thread uses it.
///           Dropping it before the action has finished cancels the action, or
///           leaves it if it is a kept run. May outlive the runtime.
/// @design   docs/engine.md#clients; docs/genkit.md 001 §1.2.
template <class In, class Out, class Stream>
class connection {
public:
  using in_type = In;
  using out_type = Out;
  using stream_type = Stream;

  connection(connection&&) noexcept = default;

  connection& operator=(connection&& other) noexcept {
    if (this != &other) {
      drop();
      impl_ = std::move(other.impl_);
      cursor_ = std::move(other.cursor_);
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
  /// An input that the body has not read when it ends is lost with the
  /// connection: `unread_inputs` counts these inputs.
  ///
  /// @errors `failed_precondition` after `close` or after completion;
  ///         `cancelled` after a cancel; otherwise the error that ended the
  ///         action; `invalid_argument` if the input has no JSON form that the
  ///         action accepts. Nothing is sent then.
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

  /// Announces that no further input follows. Inputs that were sent are still
  /// delivered. Idempotent.
  void close() {
    impl_->close();
  }

  /// Cancels the action: its waits fail and it unwinds. Idempotent; does
  /// nothing once the action has finished.
  void cancel() {
    impl_->cancel();
  }

  // -- leaving a kept run -----------------------------------------------------

  /// Returns the position in the log of a run that was opened with `with_keep`,
  /// from which `with_cursor` continues: everything before it was read. A value
  /// without a run if the run is not kept. Only on the reading thread.
  [[nodiscard]] cursor position() const {
    return impl_->position(cursor_->size());
  }

  /// Leaves the run, which goes on if it is kept and is cancelled if not. Every
  /// later call throws `failed_precondition`.
  /// @returns `position`: attach there to miss nothing.
  cursor detach() {
    auto result = position();
    cursor_->drop();
    impl_->leave();
    return result;
  }

  // -- receiving --------------------------------------------------------------

  /// Returns the chunks of this turn as they arrive, for a range-based `for`.
  ///
  /// The range ends at the end of the turn; call again for the next one. It
  /// ends permanently when the action finishes. Leaving the loop early loses
  /// nothing: the next call continues after the chunk that was read last. If
  /// chunks have a member `end_turn`, as `ai::stream_chunk` does, the last one
  /// of a turn has only that; a loop may stop there or continue to its end.
  ///
  /// @param within longest wait for each chunk; unlimited if empty.
  /// @errors the error that ended the action, after the chunks that were sent
  ///         before it; `deadline_exceeded` if a wait was too long: call again.
  [[nodiscard]] response_range<Stream>
  responses(std::optional<caf::timespan> within = std::nullopt) {
    return detail::access::make<response_range<Stream>>(*impl_, *cursor_,
                                                        within);
  }

  /// Waits for the result of the action.
  ///
  /// Unread chunks are dropped, unless another thread is in a loop over
  /// `responses`, which then reads them.
  ///
  /// @param within longest wait; unlimited if empty.
  /// @errors the error that ended the action; `deadline_exceeded` if the wait
  ///         was too long: call again.
  Out output(std::optional<caf::timespan> within = std::nullopt) {
    auto value = impl_->output(detail::blocking_client::limit_of(within));
    try {
      return std::move(value).template take<Out>();
    } catch (...) {
      impl_->reject(current_exception_to_error());
    }
  }

  /// Returns whether the action has finished and its last chunk was read; only
  /// on the reading thread.
  [[nodiscard]] bool finished() const {
    return cursor_->empty() && impl_->finished();
  }

  /// Returns the session of a conversation, to which `with_session_id` returns
  /// later; empty for other actions.
  [[nodiscard]] session_id session() const {
    return impl_->session();
  }

  /// Returns the id of the trace of this connection, 32 hexadecimal digits;
  /// empty if it is not traced.
  [[nodiscard]] std::string trace_id() const {
    return impl_->trace_id();
  }

  /// Returns the snapshot with the state at the end of the turn that was read
  /// last, before that the one from which the conversation continues; empty
  /// without one. It is the last good state if a turn fails.
  [[nodiscard]] snapshot_id last_snapshot() const {
    return impl_->last_snapshot();
  }

  /// Returns the reason for which the turn that was read last ended; empty if
  /// the program gave none.
  [[nodiscard]] std::optional<ai::finish_reason> finish_reason() const {
    return impl_->finish_reason();
  }

  /// Returns the progress of the turn that the client has named by
  /// `with_turn_id`, as of the opening. If it is under way, its chunks and its
  /// end follow, without an input; if it is over, `last_snapshot` has its
  /// state. The session may also have gone on after it.
  [[nodiscard]] turn_progress turn_found() const {
    return impl_->turn_found();
  }

  /// Returns whether a turn was under way when this client attached: its chunks
  /// and its end follow, without an input. False for a run that it has opened.
  [[nodiscard]] bool opened_in_turn() const {
    return impl_->opened_in_turn();
  }

  /// Returns the number of inputs that were sent but not read by the body
  /// before it ended, which are the last ones; 0 before its end. After the loss
  /// of a connection the number is not known, so all inputs count as unread.
  [[nodiscard]] std::uint64_t unread_inputs() const {
    return impl_->unread_inputs();
  }

  /// Returns the state of a failed conversation without a store, as of the end
  /// of its last successful turn. It is not stored elsewhere, and the client
  /// can continue from it with `with_state` or `with_init`. Empty before the
  /// end, with a store, and if the connection was lost. The details of the
  /// error contain the same state as JSON, as `state`.
  [[nodiscard]] auto last_state() const requires detail::has_state<Out> {
    return detail::take_state<Out>(impl_->last_state());
  }

  /// Waits until the action has finished.
  /// @param within longest wait; zero does not wait.
  /// @returns whether it has finished.
  bool wait_until_done(caf::timespan within) {
    return impl_->wait_until_done(detail::blocking_client::limit_of(within));
  }

private:
  friend detail::access;

  explicit connection(std::shared_ptr<detail::blocking_client> impl)
    : impl_(std::move(impl)),
      cursor_(std::make_unique<detail::chunk_cursor<Stream>>()) {}

  void drop() noexcept {
    if (impl_)
      impl_->leave();
  }

  std::shared_ptr<detail::blocking_client> impl_;
  std::unique_ptr<detail::chunk_cursor<Stream>> cursor_; // ranges refer to it
};

/// Connection to an action whose types are not known here.
using json_connection = connection<json, json, json>;

/// The chunks of one turn.
///
/// @threads  only on the thread that created it.
/// @lifetime must not outlive its connection.
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

    explicit iterator(response_range& range) noexcept : range_(&range) {}

    Stream& operator*() const noexcept {
      return *range_->current_;
    }

    Stream* operator->() const noexcept {
      return &*range_->current_;
    }

    iterator& operator++() {
      range_->advance();
      return *this;
    }

    void operator++(int) {
      range_->advance();
    }

    bool operator==(std::default_sentinel_t) const noexcept {
      return !range_->current_;
    }

  private:
    response_range* range_ = nullptr;
  };

  response_range(const response_range&) = delete;
  response_range& operator=(const response_range&) = delete;

  ~response_range() {
    client_.stop_reading();
  }

  /// Waits for the first chunk.
  iterator begin() {
    advance();
    return iterator{*this};
  }

  [[nodiscard]] std::default_sentinel_t end() const noexcept {
    return std::default_sentinel;
  }

  /// Returns whether the range has ended with the turn, and not with the
  /// action.
  [[nodiscard]] bool turn_ended() const noexcept {
    return turn_ended_;
  }

private:
  friend detail::access;

  response_range(detail::blocking_client& client,
                 detail::chunk_cursor<Stream>& cursor,
                 std::optional<caf::timespan> within)
    : client_(client), cursor_(cursor), within_(within) {
    client_.start_reading();
  }

  void advance() {
    using found = detail::blocking_client::found;
    current_.reset();
    if (turn_ended_)
      return;
    while (cursor_.empty()) {
      chunk_batch batch;
      const auto found_item
        = client_.read(batch, detail::blocking_client::limit_of(within_));
      if (found_item != found::chunks) {
        turn_ended_ = found_item == found::turn_end;
        if constexpr (detail::marks_turn_end<Stream>)
          if (turn_ended_)
            current_.emplace().end_turn = true;
        return;
      }
      try {
        cursor_.load(std::move(batch));
      } catch (...) {
        client_.reject(current_exception_to_error());
      }
    }
    current_.emplace(cursor_.take());
  }

  detail::blocking_client& client_;
  detail::chunk_cursor<Stream>& cursor_;
  std::optional<caf::timespan> within_;
  std::optional<Stream> current_;
  bool turn_ended_ = false;
};

} // namespace tertulia
