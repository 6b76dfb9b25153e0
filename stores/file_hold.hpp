// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/errc.hpp>
#include <tertulia/json.hpp>

#include <caf/timespan.hpp>

#include <compare>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tertulia {

/// Which file it is, by whatever name.
struct file_identity {
  dev_t device = 0;
  ino_t number = 0;

  friend auto operator<=>(const file_identity&, const file_identity&) = default;
};

/// A file of which nobody else who asks in this way has one: the kernel keeps
/// an exclusive lock on it, and lets go of it when this ends or the process
/// does, however that happens. It is a lock of the file and not of its name, so
/// it holds for all names that the file has.
///
/// Standard input, output and error of the process are `/dev/null` from the
/// first hold on if they were closed. Otherwise a file would get one of their
/// numbers, and all that is printed would be written to it.
///
/// @threads   any; `watch` and `expect_in_place` one at a time.
/// @lifetime  outlives what SQLite has open of the file: its end takes away the
///            locks that SQLite has on it in this process.
class file_hold {
public:
  /// Makes the file if there is none, for its owner alone.
  /// @param   file absolute.
  /// @param   patience how long to wait for whoever has it.
  /// @errors  throws `unavailable` that names the file, with `"inUse":true` in
  ///          its details, if somebody else has it; `failed_precondition` for
  ///          what is not a regular file, or one with several hard links;
  ///          `not_found` without its folder, `permission_denied`.
  file_hold(const std::string& file, caf::timespan patience);

  file_hold(const file_hold&) = delete;
  file_hold& operator=(const file_hold&) = delete;

  ~file_hold();

  /// The name of the file without symbolic links.
  [[nodiscard]] const std::string& name() const noexcept {
    return name_;
  }

  /// Expects another file, which is there, to stay in its place, too.
  void watch(const std::string& file);

  /// Throws `data_loss` if one of the files is no longer the file of its name:
  /// what is written to it now will not be found by anybody.
  void expect_in_place() const;

private:
  struct place {
    std::string name;
    file_identity which;
  };

  /// @returns whether we have it now.
  bool take(const std::string& file);

  std::string name_;
  int handle_ = -1;
  std::vector<place> places_;
};

/// Throws `failed_precondition` if there is something of that name that is not
/// a regular file: to open a pipe may take for ever.
void expect_regular_file(const std::string& name);

/// Throws an error that names a file, in its details too.
[[noreturn]] void reject_file(errc code, const std::string& file,
                              const std::string& why,
                              json details = json::object());

/// Throws what an error of the system means for a file.
[[noreturn]] void reject_file(const std::string& file, int error);

} // namespace tertulia
