// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>
#include <string_view>

#include "chat.hpp"

namespace tertulia::tool {

/// Whether a line is a command and no text: it begins with one `/`.
[[nodiscard]] bool is_chat_command(std::string_view line);

/// Returns what a line says that is no command: `//x` says `/x`.
[[nodiscard]] std::string chat_text(std::string line);

/// Does what a line wants.
/// @pre    it is a command.
/// @errors throws a failure for what makes no sense and what is not there;
///         nothing has changed then.
void run_chat_command(chat& x, const std::string& line);

/// What there is, for `--help` and `/help`.
[[nodiscard]] std::string chat_command_help();

// -- what they do -------------------------------------------------------------

void chat_show_snapshots(chat& x);
void chat_restore(chat& x, const std::string& name);
void chat_branch(chat& x, const std::string& name);
void chat_diff(chat& x, const std::string& before, const std::string& after);
void chat_show_session(chat& x);
void chat_show_sessions(chat& x);
void chat_resume(chat& x, const std::string& id);

/// Finds a session of the chat by its id, or what only its id begins with.
/// @errors throws a failure.
[[nodiscard]] session_info find_chat_session(tool& t, const std::string& id);

/// Returns the session that was worked on last, empty without any.
[[nodiscard]] std::optional<session_info> last_chat_session(tool& t);

} // namespace tertulia::tool
