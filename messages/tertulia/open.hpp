// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/payload.hpp>
#include <tertulia/protocol.hpp>

#include <caf/meta/type_name.hpp>
#include <caf/timespan.hpp>

#include <cstdint>
#include <string>
#include <utility>

// How a connection begins.

namespace tertulia {

/// The largest window that a client may ask for, in inputs or chunks: it bounds
/// what one connection can make a node hold.
inline constexpr std::uint32_t max_window = 65'536;

/// What a client may choose when it opens a connection.
struct open_options {
  open_options() = default;

  /// Inputs that may be under way before `send` waits; at most `max_window`.
  /// 0 is a strict rendezvous: `send` waits until the body asks for an input.
  std::uint32_t input_window = 1;
  /// Chunks that may be under way before the body waits; at most `max_window`.
  /// More is faster and holds more memory. 0 is a strict rendezvous: the body
  /// waits until the client asks for a chunk.
  std::uint32_t chunk_window = 64;
  /// Time until the connection is cancelled with `deadline_exceeded`, counted
  /// from its opening; zero for none.
  caf::timespan deadline{0};
  /// W3C `traceparent` of the caller's span; may be empty.
  std::string trace_parent;

  friend bool operator==(const open_options&, const open_options&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, open_options& x) {
  return f(caf::meta::type_name("tertulia::open_options"), x.input_window,
           x.chunk_window, x.deadline, x.trace_parent);
}

/// Client to front desk: open a connection to an action.
struct open {
  open() = default;
  open(std::string key, payload init, open_options options, chunk_sink client)
    : key(std::move(key)), init(std::move(init)), options(std::move(options)),
      client(std::move(client)) {}

  /// Which action, e.g. `/bidi-flow/echo`.
  std::string key;
  /// The initialization data; empty when there is none.
  payload init;
  open_options options;
  /// Who hears the connection; the connection monitors it.
  chunk_sink client;

  friend bool operator==(const open&, const open&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, open& x) {
  return f(caf::meta::type_name("tertulia::open"), x.key, x.init, x.options,
           x.client);
}

/// The connection's answer to `open`. Nothing else of this connection reaches
/// the client before it.
struct opened {
  opened() = default;
  opened(connection_actor connection, std::uint32_t input_credit)
    : connection(std::move(connection)), input_credit(input_credit) {}

  connection_actor connection;
  /// How many inputs may be sent at once.
  std::uint32_t input_credit = 0;

  friend bool operator==(const opened&, const opened&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, opened& x) {
  return f(caf::meta::type_name("tertulia::opened"), x.connection,
           x.input_credit);
}

} // namespace tertulia
