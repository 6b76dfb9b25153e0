// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>
#include <string_view>

#include "chat.hpp"

namespace tertulia::tool {

/// Returns whether a line is a command, not a text: it starts with a single
/// `/`.
[[nodiscard]] bool is_chat_command(std::string_view line);

/// Returns the text of a line that is not a command: `//x` becomes `/x`.
[[nodiscard]] std::string chat_text(std::string line);

/// Runs the command of a line.
/// @pre    the line is a command.
/// @errors throws a failure for invalid input and for names that are not found;
///         nothing has changed then.
void run_chat_command(chat& x, const std::string& line);

/// Returns the list of commands, for `--help` and `/help`.
[[nodiscard]] std::string chat_command_help();

// -- commands -----------------------------------------------------------------

void chat_show_snapshots(chat& x);
void chat_restore(chat& x, const std::string& name);
void chat_branch(chat& x, const std::string& name);
void chat_diff(chat& x, const std::string& before, const std::string& after);
void chat_show_session(chat& x);
void chat_show_sessions(chat& x);
void chat_resume(chat& x, const std::string& id);

/// Finds a session of an agent by its id, or by a prefix that only its id has.
/// @errors throws a failure.
[[nodiscard]] session_info find_chat_session(tool& t, const std::string& agent,
                                             const std::string& id);

/// Returns the session that was changed last; empty if no session exists.
[[nodiscard]] std::optional<session_info>
last_chat_session(tool& t, const std::string& agent);

} // namespace tertulia::tool
