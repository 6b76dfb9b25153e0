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
class chat_response_range;

/// Open connection to a chat agent or a session flow, for threads.
///
/// ```
/// auto talk = chat.stream_bidi();
/// talk.send_text("Hello!");
/// for (auto& item : talk.responses())
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
    connection_.send(std::move(input));
  }

  /// As `send`, but waits no longer than `within`, as
  /// `connection::send_within`.
  void send_within(caf::timespan within, conversation_input input) {
    connection_.send_within(within, std::move(input));
  }

  /// Sends the messages of a turn.
  void send_messages(std::vector<message> messages) {
    connection_.send(std::move(messages));
  }

  /// Sends one text message of the user.
  void send_text(std::string text) {
    std::vector<message> messages;
    messages.push_back(user_text(std::move(text)));
    connection_.send(std::move(messages));
  }

  /// As `connection::close`.
  void close() {
    connection_.close();
  }

  /// As `connection::cancel`.
  void cancel() {
    connection_.cancel();
  }

  // -- receiving --------------------------------------------------------------

  /// Returns the chunks of this turn as they arrive. The last chunk of a turn
  /// only has `end_turn`; a loop may stop there or continue to its end, which
  /// comes next. Otherwise as `connection::responses`.
  /// @param within longest wait for each chunk; unlimited if empty.
  [[nodiscard]] chat_response_range<Status>
  responses(std::optional<caf::timespan> within = std::nullopt) {
    return detail::access::make<chat_response_range<Status>>(connection_,
                                                             within);
  }

  /// As `connection::output`.
  Response output(std::optional<caf::timespan> within = std::nullopt) {
    return connection_.output(within);
  }

  /// As `connection::finished`.
  [[nodiscard]] bool finished() const {
    return connection_.finished();
  }

  /// Returns the number of turns whose inputs the body did not read before it
  /// ended; as `connection::unread_inputs`.
  [[nodiscard]] std::uint64_t unread_inputs() const {
    return connection_.unread_inputs();
  }

  /// As `connection::last_state`.
  [[nodiscard]] auto last_state() const {
    return connection_.last_state();
  }

  /// As `connection::wait_until_done`.
  bool wait_until_done(caf::timespan within) {
    return connection_.wait_until_done(within);
  }

private:
  friend detail::access;

  explicit conversation_connection(connection_type talk)
    : connection_(std::move(talk)) {}

  connection_type connection_;
};

/// The chunks of one turn, including its end.
///
/// @threads  only on the thread that created it.
/// @lifetime must not outlive its connection.
template <class Status>
class chat_response_range {
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

    explicit iterator(chat_response_range& range)
      : range_(&range), position_(range.chunks_.begin()) {
      find_end();
    }

    reference operator*() const noexcept {
      return range_->end_ ? *range_->end_ : *position_;
    }

    pointer operator->() const noexcept {
      return &**this;
    }

    iterator& operator++() {
      if (range_->end_) {
        range_ = nullptr;
      } else {
        ++position_;
        find_end();
      }
      return *this;
    }

    void operator++(int) {
      ++*this;
    }

    bool operator==(std::default_sentinel_t) const noexcept {
      return range_ == nullptr;
    }

  private:
    void find_end() {
      if (position_ != std::default_sentinel)
        return;
      if (range_->chunks_.turn_ended())
        range_->end_.emplace().end_turn = true;
      else
        range_ = nullptr;
    }

    chat_response_range* range_ = nullptr;
    typename response_range<stream_chunk<Status>>::iterator position_;
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

  template <class Connection>
  chat_response_range(Connection& talk, std::optional<caf::timespan> within)
    : chunks_(talk.responses(within)) {}

  response_range<stream_chunk<Status>> chunks_;
  std::optional<stream_chunk<Status>> end_;
};

} // namespace tertulia::ai
