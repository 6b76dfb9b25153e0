// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/descriptor.hpp>
#include <tertulia/remote_runtime.hpp>
#include <tertulia/runtime.hpp>

#include <string>

#include "support/refusal.hpp"
#include <gtest/gtest.h>

namespace tertulia::test::config_tests {

namespace {

void expect_advice(const status_error& x) {
  EXPECT_TRUE(has(error_text(x),
                  "failed_precondition: ", "tertulia::add_messages_to(cfg)"));
}

} // namespace

TEST(config, of_a_system_that_never_saw_the_messages_is_refused_at_once) {
  caf::actor_system_config cfg;
  caf::actor_system system{cfg};
  expect_advice(error_of([&] { return runtime{system}.actions(); }));
  expect_advice(error_of([&] {
    return remote_runtime{system, "127.0.0.1", 1}.actions();
  }));
}

TEST(config, of_an_application_needs_only_the_messages) {
  caf::actor_system_config cfg;
  add_messages_to(cfg);
  caf::actor_system system{cfg};
  EXPECT_TRUE(runtime{system}.actions().empty());
}

} // namespace tertulia::test::config_tests
