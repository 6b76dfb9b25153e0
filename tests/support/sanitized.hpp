// SPDX-License-Identifier: BSD-3-Clause

#pragma once

namespace tertulia::test {

/// Whether a sanitizer watches, which makes everything take ten times as long
/// and notices what goes wrong once: tests that do something very often do it
/// less often then.
inline constexpr bool sanitized =
#if defined(__SANITIZE_ADDRESS__)
  true; // says g++
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  true; // says clang
#else
  false;
#endif
#else
  false;
#endif

} // namespace tertulia::test
