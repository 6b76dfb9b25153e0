// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/testing/deterministic_runtime.hpp>

#include <gtest/gtest.h>

namespace tertulia::test {

using testing::deterministic_config;

/// Fixture with a runtime without threads and without a clock of its own.
class deterministic : public ::testing::Test,
                      public testing::deterministic_runtime {};

} // namespace tertulia::test
