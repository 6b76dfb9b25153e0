// SPDX-License-Identifier: BSD-3-Clause

#pragma once

namespace tertulia::tool {

/// Occupies those of the descriptors 0 to 2 that are closed, so that no file
/// that is opened later gets one of them, and output goes into it. Standard
/// input is then at its end; a write to the others fails with EBADF, as if they
/// were still closed.
///
/// @pre no other thread runs.
/// @errors throws `std::system_error`.
void occupy_standard_descriptors();

/// Waits until a descriptor can be read or written: whoever shares a pipe or a
/// terminal with this process may have it not wait by itself.
///
/// @param events POLLIN or POLLOUT.
/// @returns whether it is worth another try.
[[nodiscard]] bool wait_until(int fd, short events) noexcept;

} // namespace tertulia::tool
