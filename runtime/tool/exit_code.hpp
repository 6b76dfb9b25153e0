// SPDX-License-Identifier: BSD-3-Clause

#pragma once

namespace tertulia::tool {

/// What the process says when it ends. Scripts rely on the numbers: append
/// only.
enum class exit_code : int {
  fine = 0,
  failed = 1,        ///< the tool or the store has failed
  usage = 2,         ///< what was asked for makes no sense, or is ambiguous
  not_found = 3,     ///< no such file, session or snapshot
  damaged = 4,       ///< a store or an exported file is damaged
  in_use = 5,        ///< another process has the file
  interrupted = 130, ///< by Ctrl-C; by another signal, 128 and its number
};

} // namespace tertulia::tool
