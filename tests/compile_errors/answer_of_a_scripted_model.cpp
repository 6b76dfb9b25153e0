// SPDX-License-Identifier: BSD-3-Clause
// expect gcc: no matching function for call to
// expect clang: no matching constructor for initialization of

#include <tertulia/testing/scripted_model.hpp>

tertulia::testing::scripted_model model{42};
