// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <memory>
#include <string>

#include "reflection.hpp"
#include "web_address.hpp"

namespace tertulia::web {

/// Version 2 of the reflection protocol: a WebSocket to the command line, over
/// which it asks in JSON-RPC 2.0. Connects again when it is lost.
///
/// @param of   actions of the runtime.
/// @param to   command line.
/// @param name of the program; may be empty.
net::awaitable<void> serve_command_line(reflection& of, web_address to,
                                        std::string name);

} // namespace tertulia::web
