// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/open.hpp>
#include <tertulia/turn.hpp>

#include <caf/actor_addr.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace tertulia::detail {

class connection_state;

/// Log of one run: what its clients hear, numbered, and who reads it.
///
/// A run that is not kept has one reader and no history: everything goes to the
/// talker at once, for the credit that it granted. The log of a kept run holds
/// the batches that were sent, so that clients can attach: each reader has its
/// own position and its own credit. What an attached talker has not heard is
/// never dropped. A listener that falls behind the log hears `out_of_range`.
///
/// @threads only on the actor of its connection.
/// @design  docs/runs.md#the-log.
class client_log {
public:
  /// Bounds of the history, in bytes.
  struct limits {
    std::size_t run = 0;  ///< of turns before the last one
    std::size_t turn = 0; ///< of the last turn, under way or over
  };

  /// Identity of a client. One actor may have several, and after a loss of its
  /// node it has another handle.
  struct client_name {
    caf::actor_addr sink;
    std::uint64_t number = 0; ///< see `open_request::client_number`

    friend bool operator==(const client_name&, const client_name&) = default;
  };

  /// Turns before a position.
  struct standing {
    std::uint64_t turns = 0; ///< that have ended
    snapshot_id snapshot;    ///< of the last of them that has one
  };

  explicit client_log(connection_state& of) noexcept : owner_(of) {}

  client_log(const client_log&) = delete;
  client_log& operator=(const client_log&) = delete;

  // -- readers ----------------------------------------------------------------

  /// Adds the client that opens the run, as its talker.
  void open(chunk_sink talker);

  /// Makes the log hold what it sends: the run is kept.
  /// @pre after `open`, before the first entry.
  /// @param client_number of the talker, see `open_request`.
  /// @param snapshot from which a conversation continues; may be empty.
  void keep(limits most, std::uint64_t client_number,
            std::uint32_t chunk_window, snapshot_id snapshot);

  [[nodiscard]] bool is_kept() const noexcept {
    return history_ != nullptr;
  }

  /// Returns the sink of the talker; null while nobody talks.
  [[nodiscard]] const chunk_sink& talker() const noexcept {
    return talker_;
  }

  /// Returns whether this is the number of the talker, and it is attached.
  /// @pre `is_kept()`
  [[nodiscard]] bool is_talker(std::uint32_t number) const noexcept;

  /// Returns whether a talker that comes back is the last one: no other one has
  /// talked since. One whose last answer was lost has an old number.
  /// @pre `is_kept()`
  [[nodiscard]] bool was_last_talker(std::uint32_t number,
                                     const client_name& x) const noexcept {
    return history_->last_talker == number || history_->last_talker_name == x;
  }

  /// Returns whether the same actor has attached the talker later than this
  /// client, whose request has come late.
  /// @pre `is_kept()`
  [[nodiscard]] bool is_outdated(const client_name& x) const noexcept;

  /// Returns the number of listeners.
  /// @pre `is_kept()`
  [[nodiscard]] std::size_t listeners() const noexcept {
    return history_->listeners.size();
  }

  /// Returns whether an actor is a reader.
  [[nodiscard]] bool reads(const caf::actor_addr& who) const noexcept;

  /// Returns whether a client is a reader.
  /// @pre `is_kept()`
  [[nodiscard]] bool reads(const client_name& who) const noexcept;

  /// Adds a reader, which hears nothing before `serve`. A talker takes over:
  /// the one before hears `aborted`. A client reads a run once: it is no other
  /// reader any more, and hears nothing of that.
  /// @returns the number of the reader.
  /// @pre `is_kept()`, and the log holds what follows `position`.
  std::uint32_t attach(chunk_sink sink, std::uint64_t client_number,
                       client_role role, std::uint64_t position,
                       std::uint32_t chunk_window);

  /// Removes a reader. It hears the error in a completion message.
  /// @param reason none if the reader is gone and hears nothing.
  void dismiss(std::uint32_t number, const caf::error& reason);

  /// Removes every reader that was not sent the end of the run. It hears the
  /// error in its place.
  /// @pre `is_kept()`
  void dismiss_unserved(const caf::error& reason);

  /// Removes every reader at an actor that is gone.
  void forget(const caf::actor_addr& who);

  /// Removes every reader without a word: the connection ends.
  void close() noexcept;

  /// Gives the talker credit for inputs.
  /// @pre a talker is attached.
  void give_credit(std::uint32_t inputs);

  /// Adds credit of a reader, and sends it what follows.
  /// @pre `is_kept()`
  void grant(std::uint32_t number, std::uint32_t chunks);

  /// Sends a reader what it has credit for.
  /// @pre `is_kept()`
  void serve(std::uint32_t number);

  /// Returns the credit of the talker, less what it has not heard.
  /// @pre `is_kept()`, and a talker is attached.
  [[nodiscard]] std::int64_t room() const noexcept;

  // -- entries ----------------------------------------------------------------

  /// Adds chunks. Input credit in a batch is for the talker alone.
  void add(chunk_batch x);

  /// Adds the end of a turn, with its last chunks.
  void add(turn_end x);

  /// Adds the end of the log: each reader hears it after everything else.
  void finish(completion x);

  /// Records that a reader has received the end, even if it is gone by now, or
  /// that it does not want to hear it.
  void confirm(std::uint32_t number);

  /// Records that the end has reached the actor of a reader of another node. It
  /// confirms when it has found a client to whom the end belongs.
  /// @pre `is_kept()`
  void deliver_end(std::uint32_t number);

  /// Returns whether the talker has received the end, also one that has left
  /// since.
  [[nodiscard]] bool talker_knows_end() const noexcept;

  /// Returns whether a talker is attached that was not sent the end.
  [[nodiscard]] bool talker_reads() const noexcept {
    return talker_ && !history_->talker.was_sent_end;
  }

  /// Returns whether every attached reader has received the end.
  [[nodiscard]] bool all_know_end() const noexcept;

  /// Returns whether a reader of another node was sent the end, and it is not
  /// known whether that has arrived.
  [[nodiscard]] bool is_asking() const noexcept;

  /// Returns the number of the first entry that the log holds.
  /// @pre `is_kept()`
  [[nodiscard]] std::uint64_t begin() const noexcept;

  /// Returns the number of what is added next.
  /// @pre `is_kept()`
  [[nodiscard]] std::uint64_t end() const noexcept;

  /// Returns the number of the first entry of the turn under way.
  /// @pre `is_kept()`
  [[nodiscard]] std::uint64_t turn_start() const noexcept;

  /// Returns the turns before a position.
  /// @pre `is_kept()`
  [[nodiscard]] standing at(std::uint64_t position) const;

private:
  /// Returns whether a client is on another node.
  [[nodiscard]] bool is_remote(const chunk_sink& sink) const noexcept;

  struct entry {
    [[nodiscard]] std::uint64_t end() const noexcept {
      return first + length;
    }

    std::uint64_t first = 0;
    std::uint64_t length = 0; ///< chunks, and 1 for the end of a turn
    std::size_t bytes = 0;
    std::variant<chunk_batch, turn_end> content;
    payload sealed = {}; ///< its chunks, once a reader of another node got them
  };

  struct reader {
    [[nodiscard]] client_name name() const noexcept {
      return {sink.address(), client_number};
    }

    std::uint32_t number = 0;
    chunk_sink sink; ///< null for no reader
    std::uint64_t client_number = 0;
    std::uint64_t next = 0;
    std::uint64_t credit = 0;
    bool was_sent_end = false;
    bool was_delivered_end = false; ///< to its actor, of another node
    bool knows_end = false;
    caf::error failure; ///< for which it must leave
  };

  /// Additional state of a kept run.
  struct history {
    limits most;
    std::deque<entry> entries;
    std::uint64_t end = 0;
    std::uint64_t turn_start = 0;
    std::uint64_t last_start = 0; ///< of the last turn, which may be over
    std::size_t last_bytes = 0;   ///< of the last turn
    std::size_t older_bytes = 0;  ///< of turns before the last one
    standing dropped;             ///< turns before the first entry
    std::optional<completion> ending;
    std::uint32_t last_number = 0;
    std::uint32_t last_talker = 0;
    client_name last_talker_name;
    /// Number of the last talker that was sent the end.
    std::optional<std::uint32_t> ended_talker;
    std::uint32_t talker_inputs = 0; ///< input credit to send to the talker
    reader talker;
    std::vector<reader> listeners;
    bool talker_knew_end = false;
  };

  void record(entry added, std::uint32_t input_credit);
  [[nodiscard]] reader* find(std::uint32_t number) noexcept;
  void serve(reader& to);
  void send(reader& to, entry& from, std::uint64_t first, std::uint64_t count);
  void send_end(reader& to);
  void remove_failed();
  void remove(reader& who, const caf::error& reason);
  void trim();

  connection_state& owner_;
  chunk_sink talker_;
  std::unique_ptr<history> history_; ///< null if the run is not kept
};

} // namespace tertulia::detail
