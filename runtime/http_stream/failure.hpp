// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/status.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tertulia::http {

/// Texts that errors must not contain.
using secrets = std::vector<std::string>;

/// Returns the text with asterisks in place of the secrets.
std::string without(std::string text, const secrets& hidden);

/// Returns the error for an answer with the given status.
/// @param body   the part of the body that was read.
/// @param hidden is removed, in case the server has repeated it.
status_error failure_of(unsigned status, std::string_view body,
                        const secrets& hidden = {});

/// Returns the error in a form that may be reported: short, and without secrets
/// in its message. Its details must not contain any.
status_error presentable(const status_error& x, const secrets& hidden);

} // namespace tertulia::http
