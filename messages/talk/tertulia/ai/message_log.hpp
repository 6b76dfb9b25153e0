// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/message.hpp>
#include <tertulia/json.hpp>
#include <tertulia/sha256.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tertulia::ai {

/// Messages of a conversation: an immutable log that shares common parts with
/// other logs.
///
/// A handle is one pointer to the last message, which points to its
/// predecessor, and so on. Appending creates one node and copies nothing. Logs
/// that grew from one prefix share it, and messages appended to one do not
/// appear in another. So the log of every snapshot costs only the messages that
/// are new in it.
///
/// An array in JSON.
///
/// @threads  as a value: each handle belongs to one thread at a time, but
///           handles that share messages may be used, copied and destroyed in
///           any number of threads at once.
/// @lifetime a message lives as long as a log that contains it.
/// @design   docs/genkit.md 003 §1.1, 004 §1.1: `Messages []*ai.Message`. In Go
///           each snapshot holds a copy of all messages and hashes them anew.
class message_log {
public:
  class iterator;
  class range;

  using value_type = message;
  using const_iterator = iterator;

  /// Makes an empty log.
  message_log() noexcept = default;

  explicit message_log(std::vector<message> messages);

  message_log(const message_log& other) noexcept : tip_(acquire(other.tip_)) {}

  message_log(message_log&& other) noexcept
    : tip_(std::exchange(other.tip_, nullptr)) {}

  message_log& operator=(message_log other) noexcept {
    swap(*this, other);
    return *this;
  }

  ~message_log() {
    release(tip_);
  }

  friend void swap(message_log& a, message_log& b) noexcept {
    std::swap(a.tip_, b.tip_);
  }

  // -- content ----------------------------------------------------------------

  [[nodiscard]] std::size_t size() const noexcept;

  [[nodiscard]] bool empty() const noexcept {
    return tip_ == nullptr;
  }

  /// Returns the last message.
  /// @pre the log is not empty.
  [[nodiscard]] const message& back() const noexcept;

  /// Iterates from the first message to the last one, forward.
  ///
  /// Each call of `begin` walks the whole log once, because nodes know only
  /// their predecessors, and allocates one pointer for each message. An
  /// iterator keeps the messages alive.
  [[nodiscard]] iterator begin() const;
  [[nodiscard]] iterator end() const noexcept;

  /// Returns the messages from index `first` to the end, at a cost of
  /// O(size - first).
  /// @pre `first` <= size.
  [[nodiscard]] range from(std::size_t first) const;

  /// Returns copies of all messages.
  [[nodiscard]] std::vector<message> to_vector() const;

  // -- derived logs -----------------------------------------------------------

  /// Returns this log with one more message, at a cost of O(1).
  [[nodiscard]] message_log with(message next) const;

  /// Returns this log with more messages.
  [[nodiscard]] message_log with(std::vector<message> next) const;

  /// Returns this log with another message in place of the last one.
  /// @pre the log is not empty.
  [[nodiscard]] message_log with_back(message last) const;

  /// Returns the first `n` messages, at a cost of O(size - n).
  /// @pre `n` <= size.
  [[nodiscard]] message_log prefix(std::size_t n) const noexcept;

  // -- comparison -------------------------------------------------------------

  /// Returns whether both are the same log, not just equal, at a cost of O(1).
  [[nodiscard]] bool same_as(const message_log& other) const noexcept {
    return tip_ == other.tip_;
  }

  /// Returns the length of the common prefix that both logs share. Walks
  /// backwards over the messages that are not shared.
  [[nodiscard]] std::size_t
  shared_with(const message_log& other) const noexcept;

  /// Compares the messages that are not shared.
  friend bool operator==(const message_log& a, const message_log& b);

  // -- hash -------------------------------------------------------------------

  /// Returns the state of a SHA-256 over `{"messages":[` and the canonical JSON
  /// of the messages, separated by commas. The canonical JSON of a
  /// conversation's state begins with this text, so its hash can continue here.
  ///
  /// The state is cached in the last message, and in every 32nd before it. A
  /// later call continues from the nearest message with a cached state: after k
  /// messages were appended to a log that has one, k messages are written and
  /// hashed.
  ///
  /// @pre     the log is not empty.
  /// @errors  `invalid_argument` for a value without JSON; the state of this
  ///          log is not cached then.
  /// @threads can be called on one log by many threads at once.
  [[nodiscard]] sha256 digest() const;

private:
  struct node;

  /// Takes over one reference to `tip`.
  explicit message_log(node* tip) noexcept : tip_(tip) {}

  static node* acquire(node* x) noexcept;
  static void release(node* x) noexcept;

  /// Appends in place. Only for a log that is not shared yet.
  void append(message next);

  node* tip_ = nullptr;
};

/// Position in a log; the default one is at the end of each log.
///
/// @threads  a value.
/// @lifetime keeps the messages alive.
class message_log::iterator {
public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = message;
  using difference_type = std::ptrdiff_t;
  using pointer = const message*;
  using reference = const message&;

  iterator() noexcept = default;

  [[nodiscard]] reference operator*() const noexcept {
    return *path_->messages[index_];
  }

  [[nodiscard]] pointer operator->() const noexcept {
    return path_->messages[index_];
  }

  iterator& operator++() noexcept {
    ++index_;
    return *this;
  }

  iterator operator++(int) noexcept {
    auto result = *this;
    ++*this;
    return result;
  }

  /// @pre both are positions in the same log.
  friend bool operator==(const iterator& a, const iterator& b) noexcept {
    return a.left() == b.left();
  }

private:
  friend message_log;

  /// The way forward, which the nodes do not have.
  struct path {
    message_log log;
    std::vector<const message*> messages;
  };

  explicit iterator(std::shared_ptr<const path> path) noexcept
    : path_(std::move(path)) {}

  /// Returns the number of messages up to the end; it does not depend on the
  /// first message of the path.
  [[nodiscard]] std::size_t left() const noexcept {
    return path_ ? path_->messages.size() - index_ : 0;
  }

  std::shared_ptr<const path> path_;
  std::size_t index_ = 0;
};

/// Range of the last messages of a log.
///
/// @threads  a value.
/// @lifetime keeps the messages alive.
class message_log::range {
public:
  explicit range(iterator first) noexcept : first_(std::move(first)) {}

  [[nodiscard]] iterator begin() const noexcept {
    return first_;
  }

  [[nodiscard]] iterator end() const noexcept {
    return {};
  }

private:
  iterator first_;
};

inline message_log::iterator message_log::end() const noexcept {
  return {};
}

} // namespace tertulia::ai

namespace tertulia {

/// JSON of a log: an array of messages.
template <>
struct json_codec<ai::message_log> {
  static void write(std::string& out, const ai::message_log& x,
                    const json_path& path);
  static ai::message_log read(const json& from, const json_path& path);
  static json schema();
};

} // namespace tertulia
