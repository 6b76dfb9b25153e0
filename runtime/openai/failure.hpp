// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/status.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tertulia::openai {

/// Texts that no error may repeat.
using secrets = std::vector<std::string>;

/// Returns the text with stars in the place of the secrets.
std::string without(std::string text, const secrets& hidden);

/// Returns what an answer with such a status means.
/// @param body   what the server said, as far as it was read.
/// @param hidden is not told, should the server have repeated it.
status_error failure_of(unsigned status, std::string_view body,
                        const secrets& hidden = {});

/// Returns the error as it can be told: short, and without secrets in its
/// message. Its details must have none.
status_error presentable(const status_error& x, const secrets& hidden);

} // namespace tertulia::openai
