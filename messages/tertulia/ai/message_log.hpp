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

/// The messages of a conversation: a log that never changes and shares what it
/// has in common with others.
///
/// A handle is one pointer to the last message, which points to the one before
/// it, and so on. Appending makes one node and copies nothing: logs that grew
/// from one prefix share it, and none sees what is appended to another. So the
/// log of every snapshot can be kept at the cost of what is new in it.
///
/// An array in JSON.
///
/// @threads  as a value: each handle belongs to one thread at a time, but
///           handles that share messages may be used, copied and destroyed in
///           any number of threads at once.
/// @lifetime messages live as long as a log that has them.
/// @design   seeds 003 §1.1 and 004 §1.1: `Messages []*ai.Message`. In Go each
///           snapshot holds a copy of all messages and hashes them anew.
class message_log {
public:
  class iterator;
  class range;

  using value_type = message;
  using const_iterator = iterator;

  /// No messages.
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

  // -- what is in it ----------------------------------------------------------

  [[nodiscard]] std::size_t size() const noexcept;

  [[nodiscard]] bool empty() const noexcept {
    return tip_ == nullptr;
  }

  /// Returns the last message.
  /// @pre it is not empty.
  [[nodiscard]] const message& back() const noexcept;

  /// Iterates from the first message to the last one, forward.
  ///
  /// Each call of `begin` walks the whole log once, because its nodes know only
  /// their predecessors, and keeps one pointer for each message. An iterator
  /// keeps the messages alive.
  [[nodiscard]] iterator begin() const;
  [[nodiscard]] iterator end() const noexcept;

  /// Returns the messages from the one with index `first` on, at a cost of
  /// O(size - first).
  /// @pre `first` <= size.
  [[nodiscard]] range from(std::size_t first) const;

  /// Returns copies of all messages.
  [[nodiscard]] std::vector<message> to_vector() const;

  // -- logs that grow from it -------------------------------------------------

  /// Returns this log and one more message, at a cost of O(1).
  [[nodiscard]] message_log with(message next) const;

  /// Returns this log and more messages.
  [[nodiscard]] message_log with(std::vector<message> next) const;

  /// Returns this log with another message in place of the last one.
  /// @pre it is not empty.
  [[nodiscard]] message_log with_back(message last) const;

  /// Returns the first `n` messages, at a cost of O(size - n).
  /// @pre `n` <= size.
  [[nodiscard]] message_log prefix(std::size_t n) const noexcept;

  // -- how it compares --------------------------------------------------------

  /// Says whether both are one and the same, not just equal, at a cost of O(1).
  [[nodiscard]] bool same_as(const message_log& other) const noexcept {
    return tip_ == other.tip_;
  }

  /// Returns how many messages at the beginning are shared: one and the same
  /// in both. Walks backwards over those that are not.
  [[nodiscard]] std::size_t
  shared_with(const message_log& other) const noexcept;

  /// Compares the messages that are not shared.
  friend bool operator==(const message_log& a, const message_log& b);

  // -- its hash ---------------------------------------------------------------

  /// Returns the state of a SHA-256 that has seen `{"messages":[` and the
  /// canonical JSON of the messages with commas in between: what the canonical
  /// JSON of a conversation's state begins with, so it can go on from there.
  ///
  /// The state is kept with the last message, and with every 32nd before it,
  /// and the next one continues from the nearest message that has one: after k
  /// messages were appended to a log that has it, k messages are written and
  /// hashed.
  ///
  /// @pre     it is not empty.
  /// @errors  `invalid_argument` for what has no JSON; nothing is kept then.
  /// @threads many may call it on one log at once.
  [[nodiscard]] sha256 digest() const;

private:
  struct node;

  /// Takes over one reference.
  explicit message_log(node* tip) noexcept : tip_(tip) {}

  static node* acquire(node* x) noexcept;
  static void release(node* x) noexcept;

  /// Appends in place: for a log that nobody else has seen.
  void append(message next);

  node* tip_ = nullptr;
};

/// A place in a log; the default one is at the end of each.
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

  /// @pre both are places in the same log.
  friend bool operator==(const iterator& a, const iterator& b) noexcept {
    return a.left() == b.left();
  }

private:
  friend message_log;

  /// What the nodes do not know: the way forward.
  struct path {
    message_log log;
    std::vector<const message*> messages;
  };

  explicit iterator(std::shared_ptr<const path> path) noexcept
    : path_(std::move(path)) {}

  /// Number of messages up to the end: the same whatever a path starts with.
  [[nodiscard]] std::size_t left() const noexcept {
    return path_ ? path_->messages.size() - index_ : 0;
  }

  std::shared_ptr<const path> path_;
  std::size_t index_ = 0;
};

/// The end of a log, to iterate over.
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

/// A log is an array of messages.
template <>
struct json_codec<ai::message_log> {
  static void write(std::string& out, const ai::message_log& x,
                    const json_path& at);
  static ai::message_log read(const json& from, const json_path& at);
  static json schema();
};

} // namespace tertulia
