// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include "channel.hpp"
#include "exchange.hpp"
#include "routes/route.hpp"
#include "server/server_core.hpp"

// Record of each request: a span, and a line in the log.

namespace tertulia::web {

/// Begins the span of a request, with the names of OpenTelemetry's conventions.
/// The path is that of the route: it has nothing that a client chooses.
void begin_span(const server_core& server, exchange& x, const route& to);

/// Ends the span of a request that was answered, and logs the request.
/// @param begin when its answer began.
void end_record(const server_core& server, exchange& x,
                clock::time_point begin);

/// Records a request that has been answered without being read.
void record_unread(const server_core& server, exchange& x);

/// Makes the span of a connection that was refused.
void trace_refused(const server_core& server, unsigned status);

/// Writes a line for connections that were refused; nothing for none.
void log_refused(const server_core& server, const refused_connections& x);

} // namespace tertulia::web
