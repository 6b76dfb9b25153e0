// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/message_log.hpp>

#include <string>

namespace tertulia::offline {

/// Returns the next reply of the conversation partner. It is always the same
/// for the same messages.
std::string reply_to(const ai::message_log& messages);

} // namespace tertulia::offline
