// SPDX-License-Identifier: BSD-3-Clause

#pragma once

namespace tertulia::tool {

/// Exit code of the process. Scripts rely on the numbers: append only.
enum class exit_code : int {
  fine = 0,
  failed = 1,        ///< the tool or the store has failed
  usage = 2,         ///< the request is invalid or ambiguous
  not_found = 3,     ///< no such file, session or snapshot
  damaged = 4,       ///< a store or an exported file is damaged
  in_use = 5,        ///< another process has the file
  interrupted = 130, ///< by Ctrl-C; another signal gives 128 plus its number
};

} // namespace tertulia::tool
