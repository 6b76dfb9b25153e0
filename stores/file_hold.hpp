// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/timespan.hpp>

#include <string>

namespace tertulia {

/// Says that a file is ours, to whoever asks in the same way: the kernel keeps
/// an exclusive lock on another, empty file beside it, and lets go of it when
/// this ends or the process does, however that happens.
///
/// The empty file stays: somebody may be waiting for it already.
///
/// @threads any.
class file_hold {
public:
  /// @param   file what is to be held: `<file>-lock` is locked.
  /// @param   patience how long to wait for whoever has it.
  /// @errors  throws `unavailable` that names the file if somebody else has it;
  ///          `not_found` without its folder, `permission_denied`.
  file_hold(const std::string& file, caf::timespan patience);

  file_hold(const file_hold&) = delete;
  file_hold& operator=(const file_hold&) = delete;

  ~file_hold();

private:
  int handle_ = -1;
};

/// Makes an empty file that only its owner may read and write, unless there is
/// a file already.
/// @errors throws as `file_hold`.
void make_private_file(const std::string& file);

} // namespace tertulia
