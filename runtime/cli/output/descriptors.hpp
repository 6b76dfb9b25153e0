// SPDX-License-Identifier: BSD-3-Clause

#pragma once

namespace tertulia::tool {

/// Opens /dev/null for each of the descriptors 0 to 2 that is closed. Otherwise
/// a file that is opened later could get its number and receive the output of
/// the program. Standard input is then at its end; a write to the others fails
/// with EBADF, as if they were still closed.
///
/// @pre no other thread runs.
/// @errors throws `std::system_error`.
void occupy_standard_descriptors();

/// Waits until a descriptor can be read or written. Needed because another
/// process that shares the pipe or terminal may have made it non-blocking.
///
/// @param events POLLIN or POLLOUT.
/// @returns whether to try again.
[[nodiscard]] bool wait_until(int fd, short events) noexcept;

} // namespace tertulia::tool
