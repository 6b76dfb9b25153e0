// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/conversation.hpp>
#include <tertulia/connection.hpp>
#include <tertulia/detail/access.hpp>

#include <caf/timespan.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tertulia::ai {

template <class Status>
class received_range;

/// Open connection to a chat agent or a session flow, for threads.
///
/// ```
/// auto talk = chat.stream_bidi();
/// talk.send_text("Hello!");
/// for (auto& item : talk.receive())
///   if (item.chunk)
///     std::cout << item.chunk->text();
/// ```
///
/// @tparam Response output of the connection.
/// @threads  as `tertulia::connection`, which it wraps.
/// @lifetime as `tertulia::connection`: dropping an unfinished one cancels the
///           conversation's invocation.
/// @design   docs/sessions.md#sessions; docs/genkit.md 003 §4.3, 004 §4.3.
template <class Status, class Response>
class conversation_connection {
public:
  using connection_type
    = connection<conversation_input, Response, stream_chunk<Status>>;

  // -- sending: errors as `connection::send` ----------------------------------

  /// Sends the input of a turn, with full control over its content.
  void send(conversation_input input) {
    talk_.send(std::move(input));
  }

  /// As `send`, but waits no longer than `within`, as
  /// `connection::send_within`.
  void send_within(caf::timespan within, conversation_input input) {
    talk_.send_within(within, std::move(input));
  }

  /// Sends the messages of a turn.
  void send_messages(std::vector<message> messages) {
    talk_.send(std::move(messages));
  }

  /// Sends one text message of the user.
  void send_text(std::string text) {
    std::vector<message> messages;
    messages.push_back(user_text(std::move(text)));
    talk_.send(std::move(messages));
  }

  /// As `connection::close`.
  void close() {
    talk_.close();
  }

  /// As `connection::cancel`.
  void cancel() {
    talk_.cancel();
  }

  // -- receiving --------------------------------------------------------------

  /// Returns the chunks of this turn as they arrive. The last chunk of a turn
  /// only has `end_turn`; a loop may stop there or continue to its end, which
  /// comes next. Otherwise as `connection::responses`.
  /// @param within longest wait for each chunk; unlimited if empty.
  [[nodiscard]] received_range<Status>
  receive(std::optional<caf::timespan> within = std::nullopt) {
    return detail::access::make<received_range<Status>>(talk_, within);
  }

  /// As `connection::output`.
  Response output(std::optional<caf::timespan> within = std::nullopt) {
    return talk_.output(within);
  }

  /// As `connection::finished`.
  [[nodiscard]] bool finished() const {
    return talk_.finished();
  }

  /// Returns the number of turns whose inputs the body did not read before it
  /// ended; as `connection::unread_inputs`.
  [[nodiscard]] std::uint64_t unread_inputs() const {
    return talk_.unread_inputs();
  }

  /// As `connection::last_state`.
  [[nodiscard]] auto last_state() const {
    return talk_.last_state();
  }

  /// As `connection::wait_until_done`.
  bool wait_until_done(caf::timespan within) {
    return talk_.wait_until_done(within);
  }

private:
  friend detail::access;

  explicit conversation_connection(connection_type talk)
    : talk_(std::move(talk)) {}

  connection_type talk_;
};

/// The chunks of one turn, including its end.
///
/// @threads  only on the thread that created it.
/// @lifetime must not outlive its connection.
template <class Status>
class received_range {
public:
  /// Single pass: every `++` waits for the next chunk.
  class iterator {
  public:
    using iterator_concept = std::input_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = stream_chunk<Status>;
    using difference_type = std::ptrdiff_t;
    using pointer = value_type*;
    using reference = value_type&;

    iterator() = default;

    explicit iterator(received_range& of) : of_(&of), at_(of.chunks_.begin()) {
      look();
    }

    reference operator*() const noexcept {
      return of_->end_ ? *of_->end_ : *at_;
    }

    pointer operator->() const noexcept {
      return &**this;
    }

    iterator& operator++() {
      if (of_->end_) {
        of_ = nullptr;
      } else {
        ++at_;
        look();
      }
      return *this;
    }

    void operator++(int) {
      ++*this;
    }

    bool operator==(std::default_sentinel_t) const noexcept {
      return of_ == nullptr;
    }

  private:
    void look() {
      if (at_ != std::default_sentinel)
        return;
      if (of_->chunks_.turn_ended())
        of_->end_.emplace().end_turn = true;
      else
        of_ = nullptr;
    }

    received_range* of_ = nullptr;
    typename response_range<stream_chunk<Status>>::iterator at_;
  };

  /// Waits for the first chunk.
  iterator begin() {
    return iterator{*this};
  }

  [[nodiscard]] std::default_sentinel_t end() const noexcept {
    return std::default_sentinel;
  }

private:
  friend detail::access;

  template <class Talk>
  received_range(Talk& talk, std::optional<caf::timespan> within)
    : chunks_(talk.responses(within)) {}

  response_range<stream_chunk<Status>> chunks_;
  std::optional<stream_chunk<Status>> end_;
};

} // namespace tertulia::ai
