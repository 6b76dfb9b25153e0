// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store_contract.hpp>

/// Skips a case unless the store is a managed one.
#define TERTULIA_NEEDS_MANAGED_STORE()                                         \
  if (!is_managed())                                                           \
  GTEST_SKIP() << "the store is not a managed one"
