// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/generate_request.hpp>

#include <string>

namespace tertulia::openai {

/// Returns the body of a request to `/chat/completions`.
/// @param model the server's name of the model.
/// @errors throws `invalid_argument` for content that the protocol does not
///         support.
std::string request_text(const std::string& model,
                         const ai::generate_request& request);

} // namespace tertulia::openai
