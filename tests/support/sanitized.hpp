// SPDX-License-Identifier: BSD-3-Clause

#pragma once

namespace tertulia::test {

/// Whether a sanitizer is active. It makes everything take ten times as long,
/// and it detects errors that happen only once. So tests that repeat something
/// very often repeat it less often then.
inline constexpr bool sanitized =
#if defined(__SANITIZE_ADDRESS__)
  true; // for g++
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  true; // for clang
#else
  false;
#endif
#else
  false;
#endif

} // namespace tertulia::test
