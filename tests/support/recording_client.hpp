// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/testing/recording_client.hpp>

namespace tertulia::test {

using testing::recording_client;

} // namespace tertulia::test
