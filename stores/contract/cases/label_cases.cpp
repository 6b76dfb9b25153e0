// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/store.hpp>

#include <string>
#include <vector>

#include "cases/case.hpp"
#include <gtest/gtest.h>

// Labels and notes of snapshots.

namespace tertulia {

TEST_P(store_contract, labels_are_ordered_and_distinct) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto session = at("s");
  save_all(session, {1});
  label_snapshot_request x{snapshot_ref{session, 1}};
  x.add = {"b", "a", "b", "c"};
  x.remove = {"nothing"};
  const std::vector<std::string> abc{"a", "b", "c"};
  EXPECT_EQ(get(x).labels, abc);
  EXPECT_EQ(read(session, 1).labels, abc);
  x.add = {"a", "d"};
  x.remove = {"b", "a"};
  EXPECT_EQ(get(x).labels, (std::vector<std::string>{"a", "c", "d"}));
  x.target.sequence = 2;
  EXPECT_EQ(code(x), errc::not_found);
}

TEST_P(store_contract, a_snapshot_can_be_saved_with_labels) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto session = at("s");
  auto saved = record(session, number(1), 0);
  saved.labels = {"b", "a"};
  append(saved, number(1));
  const std::vector<std::string> expected{"a", "b"};
  EXPECT_EQ(read(session, 1).labels, expected);
  if (is_durable())
    store.reopen();
  EXPECT_EQ(read(session, 1).labels, expected);
  EXPECT_TRUE(damages().empty());
}

TEST_P(store_contract, labels_have_limits) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto session = at("s");
  save_all(session, {1});
  label_snapshot_request x{snapshot_ref{session, 1}};
  x.add = {"fine", ""};
  EXPECT_EQ(code(x), errc::invalid_argument);
  x.add = {std::string(max_label_size + 1, 'x')};
  EXPECT_EQ(code(x), errc::invalid_argument);
  EXPECT_TRUE(read(session, 1).labels.empty());
  x.add = {std::string(max_label_size, 'x')};
  while (x.add.size() < max_labels)
    x.add.push_back(std::to_string(x.add.size()));
  EXPECT_EQ(get(x).labels.size(), max_labels);
  x.add = {"one more"};
  EXPECT_EQ(code(x), errc::resource_exhausted);
  x.remove = {"1"};
  EXPECT_EQ(get(x).labels.size(), max_labels);
}

TEST_P(store_contract, a_snapshot_has_a_note) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto session = at("s");
  save_all(session, {1, 2});
  auto saved = record(session, number(3), 2);
  saved.note = "from the start";
  append(saved, number(3));
  EXPECT_EQ(read(session, 3).note, "from the start");
  const auto before = info(session);
  const auto note = std::string(max_note_size - 2, 'x') + "\xc3\xb6";
  auto expected = read(session, 1);
  expected.note = note;
  const snapshot_ref first{session, 1};
  EXPECT_EQ(get(annotate_snapshot_request{first, note}), expected);
  EXPECT_EQ(read(session, 1), expected);
  EXPECT_EQ(info(session), before);
  EXPECT_EQ(code(annotate_snapshot_request{first, note + "x"}),
            errc::invalid_argument);
  EXPECT_EQ(code(annotate_snapshot_request{first, "\xff"}),
            errc::invalid_argument);
  EXPECT_EQ(code(annotate_snapshot_request{snapshot_ref{session, 4}, "x"}),
            errc::not_found);
  EXPECT_EQ(read(session, 1).note, note);
  const auto copy = at("t");
  get(copy_session_request{session, copy, 2});
  EXPECT_EQ(get(annotate_snapshot_request{first, ""}).note, "");
  EXPECT_EQ(read(session, 1).note, "");
  EXPECT_EQ(read(copy, 1).note, note);
  EXPECT_EQ(get(prune_snapshots_request{}).records, 3u);
  EXPECT_EQ(read(session, 3).note, "from the start");
}

} // namespace tertulia
