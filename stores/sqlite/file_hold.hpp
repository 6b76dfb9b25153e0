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

/// Identity of a file, independent of its name.
struct file_identity {
  dev_t device = 0;
  ino_t number = 0;

  friend auto operator<=>(const file_identity&, const file_identity&) = default;
};

/// Exclusive hold on a file. The kernel keeps an exclusive lock on the file and
/// releases it when this object is destroyed or when the process ends, for any
/// reason. The lock belongs to the file and not to its name, so it is valid for
/// all names of the file. Only other holds respect it.
///
/// If standard input, output or error of the process are closed when a hold is
/// created, it opens them as `/dev/null`. Otherwise a file would get one of
/// their descriptors, and all printed text would be written to it.
///
/// @threads   any; `watch` and `expect_in_place` one at a time.
/// @lifetime  must outlive all connections of SQLite to the file: its end
///            releases the locks that SQLite has on the file in this process.
class file_hold {
public:
  /// Locks a file. Creates it, accessible only to its owner, if it does not
  /// exist.
  /// @param   file absolute name.
  /// @param   patience longest wait for another holder.
  /// @errors  throws `unavailable` that names the file, with `"inUse":true` in
  ///          its details, if there is another holder; `failed_precondition` if
  ///          the file is not a regular file or has several hard links;
  ///          `not_found` if its directory does not exist; `permission_denied`.
  file_hold(const std::string& file, caf::timespan patience);

  file_hold(const file_hold&) = delete;
  file_hold& operator=(const file_hold&) = delete;

  ~file_hold();

  /// Returns the name of the file, with symbolic links resolved.
  [[nodiscard]] const std::string& name() const noexcept {
    return name_;
  }

  /// Adds a file to those that must stay in their place. The file must exist.
  void watch(const std::string& file);

  /// Throws `data_loss` if the name of one of the files no longer refers to
  /// that file: data that is written to it now could not be found later.
  void expect_in_place() const;

private:
  struct place {
    std::string name;
    file_identity target;
  };

  /// Tries once to lock the file.
  /// @returns whether the file is locked now.
  bool take(const std::string& file);

  std::string name_;
  int handle_ = -1;
  std::vector<place> places_;
};

/// Throws `failed_precondition` if the name refers to something other than a
/// regular file: opening a pipe may block forever.
void expect_regular_file(const std::string& name);

/// Throws an error that names a file, also in its details.
[[noreturn]] void reject_file(errc code, const std::string& file,
                              const std::string& reason,
                              json details = json::object());

/// Throws the error that corresponds to a system error (`errno`) for a file.
[[noreturn]] void reject_file(const std::string& file, int error);

} // namespace tertulia
