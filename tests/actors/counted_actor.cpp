// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/counted_actor.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <memory>
#include <string>

#include "support/deterministic.hpp"

namespace tertulia::test::counted_actor_tests {

using detail::actor_counts;
using detail::counts_of;
using counted = detail::with_counts<caf::event_based_actor>;

struct counted_actor : deterministic {
  /// Spawns an actor that leaves texts until it has got a number.
  caf::actor spawn_reader() {
    return system.spawn([](counted* self) -> caf::behavior {
      self->set_default_handler(caf::skip);
      return {[self](int) { self->become([](const std::string&) {}); }};
    });
  }

  static std::shared_ptr<actor_counts> counts(const caf::actor& x) {
    return counts_of(caf::actor_cast<caf::strong_actor_ptr>(x));
  }
};

TEST_F(counted_actor, tells_how_many_messages_wait) {
  const auto reader = spawn_reader();
  const auto known = counts(reader);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->waiting(), 0u);
  caf::anon_send(reader, std::string{"a"});
  caf::anon_send(reader, std::string{"b"});
  EXPECT_EQ(known->waiting(), 2u);
  run(); // it looks at them, and leaves them where they are
  EXPECT_EQ(known->waiting(), 2u);
  caf::anon_send(reader, 1);
  EXPECT_EQ(known->waiting(), 3u);
  run();
  EXPECT_EQ(known->waiting(), 0u);
}

TEST_F(counted_actor, has_no_messages_after_its_end) {
  const auto reader = spawn_reader();
  const auto known = counts(reader);
  caf::anon_send(reader, std::string{"it is left"});
  run();
  EXPECT_EQ(known->waiting(), 1u);
  kill(reader);
  EXPECT_EQ(known->waiting(), 0u);
  caf::anon_send(reader, std::string{"it is not taken"});
  EXPECT_EQ(known->waiting(), 0u);
}

TEST_F(counted_actor, is_one_that_was_spawned_so) {
  const auto other = system.spawn(
    [](caf::event_based_actor*) -> caf::behavior { return {[](int) {}}; });
  EXPECT_FALSE(counts(other));
  EXPECT_FALSE(counts_of(nullptr));
}

TEST_F(counted_actor, adds_what_waits_for_the_one_that_does_its_work) {
  const auto reader = spawn_reader();
  caf::anon_send(reader, std::string{"a"});
  counts(reader)->commit();
  actor_counts all;
  all.commit();
  all.receive();
  all.set_part(counts(reader));
  EXPECT_EQ(all.waiting(), 2u);
  EXPECT_EQ(all.commits(), 2u);
  // After its end nothing waits for it, and it has done what it has done.
  all.set_part(nullptr);
  EXPECT_EQ(all.waiting(), 1u);
  EXPECT_EQ(all.commits(), 2u);
  caf::anon_send(reader, 1);
  run();
}

} // namespace tertulia::test::counted_actor_tests
