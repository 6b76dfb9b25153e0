// SPDX-License-Identifier: BSD-3-Clause

#pragma once

namespace tertulia::test {

/// Whether a sanitizer watches, which makes everything take ten times as long
/// and notices what goes wrong once: tests that do something very often do it
/// less often then.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

} // namespace tertulia::test
