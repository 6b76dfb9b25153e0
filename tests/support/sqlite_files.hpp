// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/sqlite_store.hpp>
#include <tertulia/store.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/scratch.hpp"
#include <gtest/gtest.h>

namespace tertulia::test {

/// Fixture of a store's file, which does not exist yet, in a folder of its own.
struct sqlite_files : ::testing::Test {
  static session_ref session(const std::string& name) {
    return {"/agent/a", session_id{name}};
  }

  /// Returns a request to save a snapshot whose id is that of its state.
  static save_snapshot_request
  snapshot(const session_ref& session, const state& content,
           std::uint64_t parent, append_rule rule = append_rule::at_head) {
    snapshot_record made;
    made.agent = session.agent;
    made.session = session.id;
    made.state = content.id();
    made.id = snapshot_id{made.state.str()};
    made.parent = parent;
    return {made, content, rule};
  }

  static std::string bytes_of(const std::filesystem::path& file) {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  /// Flips a bit of a file that is not open.
  static void flip(const std::filesystem::path& file, std::size_t bit) {
    std::fstream io{file, std::ios::in | std::ios::out | std::ios::binary};
    io.exceptions(std::ios::failbit | std::ios::badbit);
    io.seekg(static_cast<std::streamoff>(bit / 8));
    const auto old = io.get();
    io.seekp(static_cast<std::streamoff>(bit / 8));
    io.put(static_cast<char>(old ^ (1 << bit % 8)));
  }

  /// Copies the file of a store, and its log if there is one: what a process
  /// leaves that is killed now.
  static void copy_store(const std::filesystem::path& from,
                         const std::filesystem::path& to) {
    for (const auto* suffix : {"", "-wal"})
      if (std::filesystem::exists(from.string() + suffix))
        std::filesystem::copy_file(
          from.string() + suffix, to.string() + suffix,
          std::filesystem::copy_options::overwrite_existing);
  }

  scratch folder;
  std::filesystem::path file = folder / "sessions.db";
  sqlite_options options;
};

} // namespace tertulia::test
