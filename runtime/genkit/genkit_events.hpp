// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/errc.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "message/exchange.hpp"
#include "routes/run_stream.hpp"
#include "talk/frame.hpp"

// Protocol of Genkit's clients, `runFlow`, `streamFlow` and `remoteAgent`.
// Their parser is not one of event streams: an event is one line behind `data:
// ` or `error: `, and characters outside ASCII are escaped, because it decodes
// each part of a body on its own.

namespace tertulia::web {

/// Header field with the id of a stream that a client can come back to.
inline constexpr auto genkit_stream_field = "x-genkit-stream-id";

/// Kind of an event; the last one of an answer is a result or an error.
enum class genkit_event_kind : std::uint8_t { message, result, error };

/// Event for a client of Genkit.
struct genkit_event {
  genkit_event_kind kind = genkit_event_kind::message;
  std::string text;     ///< a JSON document
  errc code = errc::ok; ///< of an error
};

/// Translator of the frames of a run.
class genkit_translator {
public:
  genkit_translator() = default;

  genkit_translator(const genkit_translator&) = delete;
  genkit_translator& operator=(const genkit_translator&) = delete;

  virtual ~genkit_translator() = default;

  /// Appends the events of a frame.
  virtual void translate(const frame& x, std::vector<genkit_event>& to) = 0;
};

/// Translator for flows: chunks, an output or an error.
class genkit_flow_translator final : public genkit_translator {
public:
  void translate(const frame& x, std::vector<genkit_event>& to) override;
};

/// Returns whether a client asks for a stream.
[[nodiscard]] bool wants_genkit_stream(const exchange& x);

/// Answers a request with the events of a run: as a stream, or with the last
/// event.
/// @pre   `run_stream::open` has returned.
/// @param is_durable whether the client is told how to find the stream again.
net::awaitable<void> write_genkit_events(exchange& x, run_stream& run,
                                         genkit_translator& by,
                                         bool is_durable);

/// Answers a request with one event.
net::awaitable<void> write_genkit_event(exchange& x, genkit_event event);

} // namespace tertulia::web
