// SPDX-License-Identifier: BSD-3-Clause

// Folder of the coding agent in the examples. A path that comes from a model
// must not be trusted.

#include "examples/sandbox_folder.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "support/scratch.hpp"
#include <gtest/gtest.h>

using namespace std::literals;

namespace tertulia::test::sandbox_folder_tests {

namespace {

namespace fs = std::filesystem;

/// Fixture with a secret outside the folder, and the sandbox for that folder.
struct sandbox_folder : ::testing::Test {
  sandbox_folder() {
    fs::create_directory(root);
    put(outside / "secret", "4711");
    box.emplace(root);
  }

  static void put(const fs::path& where, std::string_view text) {
    std::ofstream{where, std::ios::binary} << text;
  }

  static std::string get(const fs::path& where) {
    std::ifstream in{where, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  template <class Fn>
  static errc code_of(Fn fn) {
    try {
      fn();
      return errc::ok;
    } catch (const status_error& x) {
      return x.code();
    }
  }

  errc reading(const std::string& name) {
    return code_of([&] { static_cast<void>(box->read(name)); });
  }

  errc writing(const std::string& name, const std::string& text = "mine") {
    return code_of([&] { box->write(name, text); });
  }

  scratch folder;
  fs::path outside = folder / "";
  fs::path root = folder / "sandbox";
  std::optional<example::sandbox_folder> box;
};

} // namespace

TEST_F(sandbox_folder, keeps_what_is_written) {
  box->write("main.cpp", "int main() {}");
  box->write("src/deep/a.hpp", "");
  EXPECT_EQ(box->read("main.cpp"), "int main() {}");
  EXPECT_EQ(box->read("src/deep/a.hpp"), "");
  EXPECT_EQ(get(root / "main.cpp"), "int main() {}");
  EXPECT_EQ(box->list(), (std::vector{"main.cpp"s, "src/deep/a.hpp"s}));
  EXPECT_EQ(reading("other.cpp"), errc::not_found);
  EXPECT_EQ(reading("no/such/folder"), errc::not_found);
}

TEST_F(sandbox_folder, has_no_name_that_leads_out) {
  for (const auto& name :
       {""s, "."s, ".."s, "/"s, "../secret"s, (outside / "secret").string(),
        "./a"s, "a/../../secret"s, "a//b"s, "a/"s, ".hidden"s, ".git/config"s,
        "a/.b/c"s, "a\0b"s}) {
    EXPECT_EQ(reading(name), errc::permission_denied) << name;
    EXPECT_EQ(writing(name), errc::permission_denied) << name;
  }
  EXPECT_EQ(get(outside / "secret"), "4711");
}

TEST_F(sandbox_folder, follows_no_link) {
  fs::create_symlink(outside, root / "up");
  fs::create_symlink(outside / "secret", root / "alias");
  fs::create_symlink(root, root / "myself");
  box->write("inside", "mine");
  for (const auto* name : {"up/secret", "alias", "myself/inside"}) {
    EXPECT_EQ(reading(name), errc::permission_denied) << name;
    EXPECT_EQ(writing(name), errc::permission_denied) << name;
  }
  EXPECT_EQ(writing("up/new"), errc::permission_denied);
  EXPECT_EQ(box->list(), std::vector{"inside"s});
  EXPECT_EQ(get(outside / "secret"), "4711");
  EXPECT_FALSE(fs::exists(outside / "new"));
}

TEST_F(sandbox_folder, follows_no_link_that_comes_later) {
  box->write("file", "mine");
  box->write("src/secret", "mine");
  fs::remove(root / "file");
  fs::create_symlink(outside / "secret", root / "file");
  fs::remove_all(root / "src");
  fs::create_symlink(outside, root / "src");
  EXPECT_EQ(writing("file"), errc::ok) << "takes the place of the link";
  EXPECT_EQ(writing("src/secret"), errc::permission_denied);
  EXPECT_EQ(code_of([&] { box->restore({}); }), errc::permission_denied);
  EXPECT_EQ(get(outside / "secret"), "4711");
}

TEST_F(sandbox_folder, takes_texts_of_a_limited_size) {
  const std::string most(example::sandbox_folder::max_size, 'x');
  EXPECT_EQ(writing("a", most), errc::ok);
  EXPECT_EQ(box->read("a"), most);
  EXPECT_EQ(writing("a", most + 'x'), errc::resource_exhausted);
  put(root / "large", most + 'x');
  put(root / "picture", "\xff\xd8\xff");
  ASSERT_EQ(::mkfifo((root / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(reading("large"), errc::resource_exhausted);
  EXPECT_EQ(reading("picture"), errc::invalid_argument);
  EXPECT_EQ(reading("pipe"), errc::permission_denied);
  EXPECT_EQ(writing("large"), errc::resource_exhausted) << "no way back";
  EXPECT_EQ(writing("picture"), errc::invalid_argument);
  EXPECT_EQ(writing("pipe"), errc::permission_denied);
  EXPECT_EQ(get(root / "picture"), "\xff\xd8\xff");
}

TEST_F(sandbox_folder, has_names_of_a_limited_length) {
  std::string deep;
  for (auto i = 1; i < 16; ++i)
    deep += "a/";
  EXPECT_EQ(writing(deep + "b"), errc::ok);
  EXPECT_EQ(box->list(), std::vector{deep + "b"});
  EXPECT_EQ(writing(deep + "c/d"), errc::permission_denied);
  EXPECT_FALSE(fs::exists(root / deep / "c"));
  std::string far;
  for (auto i = 0; i < 50'000; ++i)
    far += "z/";
  EXPECT_EQ(writing(far + "b"), errc::permission_denied);
  EXPECT_EQ(writing(std::string(1'001, 'z')), errc::permission_denied);
  EXPECT_FALSE(fs::exists(root / "z"));

  fs::create_directories(root / deep / "c");
  put(root / deep / "c/d", "not to be named");
  EXPECT_EQ(box->list(), std::vector{deep + "b"});
}

TEST_F(sandbox_folder, changes_a_limited_number_of_files) {
  constexpr auto most = example::sandbox_folder::max_files;
  for (std::size_t i = 0; i < most; ++i)
    ASSERT_EQ(writing("f" + std::to_string(i)), errc::ok);
  EXPECT_EQ(box->list().size(), most);
  EXPECT_EQ(writing("one-more"), errc::resource_exhausted);
  EXPECT_FALSE(fs::exists(root / "one-more"));
  EXPECT_EQ(writing("f7", "again"), errc::ok);
  box->restore({});
  EXPECT_TRUE(box->list().empty());
}

TEST_F(sandbox_folder, says_what_the_system_says) {
  fs::remove_all(root);
  EXPECT_EQ(code_of([&] { static_cast<void>(box->list()); }),
            errc::unavailable);
  EXPECT_EQ(code_of([&] { example::sandbox_folder{root}; }), errc::not_found);
}

TEST_F(sandbox_folder, leaves_alone_what_others_have_changed) {
  put(root / "old", "as it was");
  box->write("old", "changed");
  box->write("new", "made");
  const auto turn = box->take_changes();
  put(root / "old", "by hand");
  put(root / "new", "by hand, too");
  box->write("half", "of a turn that fails");
  box->restore(turn);
  EXPECT_EQ(get(root / "old"), "by hand");
  EXPECT_EQ(get(root / "new"), "by hand, too");
  EXPECT_EQ(box->list(), (std::vector{"new"s, "old"s}));

  box->restore({});
  EXPECT_EQ(get(root / "old"), "as it was");
  EXPECT_EQ(box->list(), std::vector{"old"s});
  put(root / "old", "by hand");
  box->restore({});
  EXPECT_EQ(get(root / "old"), "by hand");
  box->restore(turn);
  EXPECT_EQ(get(root / "old"), "changed");
  EXPECT_EQ(get(root / "new"), "made");
}

TEST_F(sandbox_folder, takes_back_a_file_whatever_has_become_of_it) {
  box->write("picture", "drawn");
  box->write("large", "small");
  put(root / "picture", "\xff\xd8\xff");
  put(root / "large", std::string(100'000, 'x'));
  box->restore({});
  EXPECT_TRUE(box->list().empty());
}

TEST_F(sandbox_folder, replaces_a_text_that_is_there_once) {
  box->write("a", "one two two");
  box->replace("a", "one", "three");
  EXPECT_EQ(box->read("a"), "three two two");
  for (const auto* wrong : {"two", "one", ""})
    EXPECT_EQ(code_of([&] { box->replace("a", wrong, "x"); }),
              errc::failed_precondition);
  EXPECT_EQ(code_of([&] { box->replace("b", "x", "y"); }), errc::not_found);
  EXPECT_EQ(box->read("a"), "three two two");
}

TEST_F(sandbox_folder, shows_nobody_a_half) {
  const std::string short_text(10, 'a');
  const std::string long_text(60'000, 'b');
  box->write("a", short_text);
  std::thread writer{[&] {
    for (auto i = 0; i < 50; ++i)
      box->write("a", i % 2 == 0 ? long_text : short_text);
  }};
  auto halves = 0;
  for (auto i = 0; i < 500; ++i) {
    const auto seen = get(root / "a");
    halves += seen == short_text || seen == long_text ? 0 : 1;
  }
  writer.join();
  EXPECT_EQ(halves, 0);
  EXPECT_EQ(box->list(), std::vector{"a"s}) << "nothing is left over";
}

TEST_F(sandbox_folder, goes_back_to_any_files) {
  put(root / "old", "as it was");
  fs::permissions(root / "old", fs::perms::owner_all);
  box->write("old", "changed");
  box->write("src/new", "made");
  const auto first = box->take_changes();
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].name, "old");
  EXPECT_EQ(ai::text_of(first[1].parts), "made");
  EXPECT_TRUE(box->take_changes().empty());

  box->write("old", "changed again");
  box->write("newer", "made, too");
  box->restore(first);
  EXPECT_EQ(box->read("old"), "changed");
  EXPECT_EQ(box->list(), (std::vector{"old"s, "src/new"s}));
  EXPECT_TRUE(box->take_changes().empty()) << "that is how the session is";

  box->restore({});
  EXPECT_EQ(box->read("old"), "as it was");
  EXPECT_EQ(box->list(), std::vector{"old"s});
  EXPECT_EQ(fs::status(root / "old").permissions(), fs::perms::owner_all);
  box->restore(first);
  EXPECT_EQ(box->read("src/new"), "made");
}

} // namespace tertulia::test::sandbox_folder_tests
