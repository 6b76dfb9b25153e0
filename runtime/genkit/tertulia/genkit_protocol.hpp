// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/http_server.hpp>

namespace tertulia {

/// Returns the protocol of Genkit's published clients, `runFlow`, `streamFlow`
/// and `remoteAgent`, for the routes below `/genkit` of an `http_server`.
///
/// ```
/// tertulia::http_server web{rt,
///                           {.protocols = {tertulia::genkit_protocol()}}};
/// ```
///
/// @design docs/genkit.md#clients-of-genkit.
[[nodiscard]] http_protocol genkit_protocol() noexcept;

} // namespace tertulia
