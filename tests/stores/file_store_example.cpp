// SPDX-License-Identifier: BSD-3-Clause

// The store of the examples fulfills the contract of every store.

#include <tertulia/store_contract.hpp>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/scratch.hpp"

#define main run_file_store_example
#include "examples/file_store.cpp"
#undef main

namespace tertulia::test::file_store_example_tests {

namespace {

struct file_store_factory : contract_factory {
  [[nodiscard]] bool is_durable() const override {
    return true;
  }

  managed_store open(caf::actor_system& system) override {
    return spawn_file_store(system, file);
  }

  scratch folder;
  std::filesystem::path file = folder / "sessions.jsonl";
};

struct file_store_example : store_test<file_store_factory> {};

} // namespace

INSTANTIATE_TEST_SUITE_P(
  example, store_contract,
  ::testing::Values(store_kind::of<file_store_factory>()));

TEST_F(file_store_example, a_line_that_was_not_completed_is_ignored) {
  save_all(at("s"), {1, 2});
  std::ofstream{factory().file, std::ios::app} << R"([{"gone":1)";
  store.reopen();
  EXPECT_EQ(sequences(at("s")), (std::vector<std::uint64_t>{1, 2}));
  save(at("s"), number(3), 2);
  store.reopen();
  EXPECT_EQ(content(at("s")), number(3));
}

} // namespace tertulia::test::file_store_example_tests
