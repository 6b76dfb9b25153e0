// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/finish_reason.hpp>
#include <tertulia/chunks.hpp>
#include <tertulia/detail/compiled_once.hpp>
#include <tertulia/identifier.hpp>
#include <tertulia/inspect.hpp>
#include <tertulia/payload.hpp>

#include <caf/error.hpp>

#include <cstdint>
#include <optional>
#include <utility>

// Messages on an open connection. Every type has a constructor on purpose: g++
// 12 corrupts a braced aggregate inside a co_await.

namespace tertulia {

/// Client to connection: one input. Costs one input credit.
struct turn_input : memberwise {
  turn_input() = default;
  explicit turn_input(payload value, std::uint32_t chunk_credit = 0,
                      std::optional<std::uint64_t> number = {},
                      std::uint32_t reader = 0)
    : value(std::move(value)), chunk_credit(chunk_credit), number(number),
      reader(reader) {}

  payload value;
  /// Additional chunk credit, sent with the input.
  std::uint32_t chunk_credit = 0;
  /// Number of the input in its conversation, or in the run of another action;
  /// 0 for the first. The connection drops an input with the number of one that
  /// it has. Empty if the client does not number its inputs.
  std::optional<std::uint64_t> number;
  /// Number of the client among the readers of a kept run.
  std::uint32_t reader = 0;
};

BOOST_DESCRIBE_STRUCT(turn_input, (), (value, chunk_credit, number, reader))

/// Client to connection: the sink has room for `chunks` more chunks.
struct chunk_credit : memberwise {
  chunk_credit() = default;
  explicit chunk_credit(std::uint32_t chunks, std::uint32_t reader = 0)
    : chunks(chunks), reader(reader) {}

  std::uint32_t chunks = 0;
  /// Number of the client among the readers of a kept run.
  std::uint32_t reader = 0;
};

BOOST_DESCRIBE_STRUCT(chunk_credit, (), (chunks, reader))

/// Connection to client: the body has room for `inputs` more inputs.
struct input_credit : memberwise {
  input_credit() = default;
  explicit input_credit(std::uint32_t inputs, std::uint32_t reader = 0)
    : inputs(inputs), reader(reader) {}

  std::uint32_t inputs = 0;
  /// Number of the client among the readers of a kept run.
  std::uint32_t reader = 0;
};

BOOST_DESCRIBE_STRUCT(input_credit, (), (inputs, reader))

/// Connection to client: chunks, in order. Costs one chunk credit per chunk.
///
/// Chunks and ends of turns are numbered together, from 0 over the whole run:
/// their numbers are positions in the log of the run. So a client can verify
/// that none is missing or repeated. The chunks are one payload: inside a
/// process a `chunks<T>`, between processes a JSON array.
struct chunk_batch : memberwise {
  chunk_batch() = default;
  chunk_batch(std::uint64_t first, std::uint32_t size, payload items,
              std::uint32_t input_credit = 0)
    : first(first), size(size), items(std::move(items)),
      input_credit(input_credit) {}

  /// Takes the chunks out; none if the batch is empty.
  /// @errors throws `invalid_argument` if they are of another type.
  template <class T>
  [[nodiscard]] chunks<T> take() && {
    return size > 0 ? std::move(items).template take<chunks<T>>() : chunks<T>{};
  }

  /// Number of the first chunk of the batch.
  std::uint64_t first = 0;
  /// Number of chunks in the batch.
  std::uint32_t size = 0;
  payload items;
  /// Additional input credit, sent with the batch.
  std::uint32_t input_credit = 0;
  /// Number of the client among the readers of a kept run.
  std::uint32_t reader = 0;
};

BOOST_DESCRIBE_STRUCT(chunk_batch, (),
                      (first, size, items, input_credit, reader))

/// Connection to client: the body has finished answering, with its last chunks.
/// Costs one chunk credit, and one for each of these chunks. Its number in the
/// log follows that of the last of them: `last.first + last.size`.
struct turn_end : memberwise {
  turn_end() = default;
  explicit turn_end(std::uint64_t turn, chunk_batch last = {},
                    snapshot_id snapshot = {},
                    std::optional<ai::finish_reason> finish_reason = {},
                    std::uint64_t stored_inputs = 0)
    : turn(turn), last(std::move(last)), snapshot(std::move(snapshot)),
      finish_reason(finish_reason), stored_inputs(stored_inputs) {}

  /// Index of the turn that ended, 0 for the first.
  std::uint64_t turn = 0;
  /// Chunks of the turn that were not sent before; may be empty, but always has
  /// its first number.
  chunk_batch last;
  /// Snapshot that has the state of a conversation at the end of the turn;
  /// empty without one.
  snapshot_id snapshot;
  /// Reason for which the turn of a conversation ended; empty if the program
  /// gave none.
  std::optional<ai::finish_reason> finish_reason;
  /// Number of inputs of the conversation that its store contains: a client
  /// does not need to keep them. 0 without a store.
  std::uint64_t stored_inputs = 0;
};

BOOST_DESCRIBE_STRUCT(turn_end, (),
                      (turn, last, snapshot, finish_reason, stored_inputs))

/// Connection to client: completion message, with an output or an error. Free;
/// comes after every chunk.
struct completion : memberwise {
  completion() = default;
  completion(payload output, caf::error reason, std::uint64_t length,
             std::uint64_t inputs, std::uint32_t reader = 0)
    : output(std::move(output)), reason(std::move(reason)), length(length),
      inputs(inputs), reader(reader) {}

  /// Return value of the body. If the body failed: the state of a conversation
  /// without a store after its last turn that ended; otherwise empty.
  payload output;
  /// Error with which the body failed; none if it returned an output.
  caf::error reason;
  /// Length of the log: number of chunks and ends of turns of the whole run.
  std::uint64_t length = 0;
  /// Number of inputs that the conversation has taken, or the run of another
  /// action; later inputs were not read.
  std::uint64_t inputs = 0;
  /// Number of the client among the readers of a kept run.
  std::uint32_t reader = 0;
};

BOOST_DESCRIBE_STRUCT(completion, (), (output, reason, length, inputs, reader))

} // namespace tertulia

TERTULIA_COMPILED_ONCE(tertulia::chunk_batch)
TERTULIA_COMPILED_ONCE(tertulia::chunk_credit)
TERTULIA_COMPILED_ONCE(tertulia::completion)
TERTULIA_COMPILED_ONCE(tertulia::input_credit)
TERTULIA_COMPILED_ONCE(tertulia::turn_end)
TERTULIA_COMPILED_ONCE(tertulia::turn_input)
