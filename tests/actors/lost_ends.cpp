// SPDX-License-Identifier: BSD-3-Clause

// Ends of runs whose client is away, and comes back by a new link.

#include <tertulia/actor_client.hpp>
#include <tertulia/remote_actor.hpp>
#include <tertulia/store/runs.hpp>

#include <caf/actor_registry.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/skip.hpp>
#include <caf/stateful_actor.hpp>

#include <atomic>
#include <exception>
#include <future>
#include <optional>
#include <utility>

#include "support/lost_links.hpp"

using namespace std::literals;

namespace tertulia::test::lost_ends_tests {

namespace {

using lost_ends = lost_links;

/// A run that ends while its client looks for it, before its node has noticed
/// that the client was away.
struct ends_meanwhile : lost_links {
  ends_meanwhile() {
    rt.define_bidi_flow("wait",
                        [this](context ctx, input<nothing>,
                               output<nothing>) -> task<int> {
                          const witness alive;
                          co_await ctx.run_blocking([this] { end.wait(); });
                          co_return 7;
                        });
    desk = here.spawn([this](caf::event_based_actor* self) {
      return caf::behavior{
        [this, self](open_request& x) -> caf::result<open_result> {
          if (!x.options.attach || is_released)
            return self->delegate(rt.front_desk(), std::move(x));
          is_held = true;
          return caf::skip();
        },
        [this](caf::ok_atom) { is_released = true; },
        [this, self](list_atom x) {
          return self->delegate(rt.front_desk(), x);
        }};
    });
    link.emplace(publish_actor(here, caf::actor_cast<front_desk_actor>(desk)));
    counter();
    far = client->action<bidi_flow<nothing, nothing, int, nothing>>(
      "/bidi-flow/wait");
  }

  ~ends_meanwhile() override {
    caf::anon_send_exit(desk, caf::exit_reason::user_shutdown);
  }

  void lose_client_until_the_end() {
    EXPECT_TRUE(eventually([] { return witness::alive() == 1; }));
    link->cut_clients();
    EXPECT_TRUE(eventually([this] { return is_held.load(); }));
    end.open();
    EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
    // These messages pass behind the end, and behind its answer.
    for (int i = 0; i < 2; ++i)
      (void)client->action<counter_flow>("/bidi-flow/counter")
        .stream_bidi()
        .position();
    caf::anon_send(desk, caf::ok_atom::value);
  }

  const gate end;
  caf::actor desk;
  std::atomic<bool> is_held = false;
  bool is_released = false; // on the actor
  std::optional<bidi_flow<nothing, nothing, int, nothing>> far;
};

} // namespace

TEST_F(lost_ends, an_end_is_not_taken_by_a_client_that_is_away) {
  std::promise<caf::actor_id> opened;
  const auto desk = here.spawn([&](caf::event_based_actor* self) {
    return caf::behavior{[self, &opened,
                          desk = rt.front_desk()](open_request& x) {
                           if (!x.options.attach)
                             opened.set_value(x.client.id());
                           return self->delegate(desk, std::move(x));
                         },
                         [self, desk = rt.front_desk()](list_atom x) {
                           return self->delegate(desk, x);
                         }};
  });
  link.emplace(publish_actor(here, caf::actor_cast<front_desk_actor>(desk)));
  auto talk = counter().stream_bidi(with_keep(1min));
  const auto sink = caf::actor_cast<caf::actor>(
    there.registry().get(opened.get_future().get()));
  link->refuse();
  EXPECT_TRUE(eventually([&] { return link->refusals() > 0; }));
  caf::scoped_actor self{there};
  self->request(sink, patience, completion{})
    .receive([] { ADD_FAILURE() << "it was taken"; },
             [](const caf::error& reason) {
               EXPECT_EQ(code_of(reason), errc::unavailable);
             });
  link->accept();
  talk.send(2);
  talk.close();
  EXPECT_EQ(talk.output(patience), 2);
  caf::anon_send_exit(desk, caf::exit_reason::user_shutdown);
}

TEST_F(ends_meanwhile, a_thread_hears_it) {
  auto talk = far->stream_bidi(with_keep(1min));
  lose_client_until_the_end();
  EXPECT_EQ(talk.output(patience), 7);
}

TEST_F(ends_meanwhile, a_body_hears_it) {
  runtime near{there};
  const gate opened;
  const auto visitor = near.define_bidi_flow(
    "visitor", [&](context ctx, input<int>, output<int>) -> task<int> {
      const with_keep kept{1min};
      auto talk = co_await far->open(ctx, kept);
      opened.open();
      co_return co_await talk.output();
    });
  auto talk = visitor.stream_bidi();
  opened.wait();
  lose_client_until_the_end();
  EXPECT_EQ(talk.output(patience), 7);
}

TEST_F(ends_meanwhile, an_actor_hears_it) {
  using wait_flow = bidi_flow<nothing, nothing, int, nothing>;
  static std::promise<int> heard;
  struct reader : actor_client<wait_flow> {
    using actor_client::actor_client;

    void on_credit() override {
      if (!std::exchange(is_open, true))
        opened.open();
    }

    void on_chunk(nothing&) override {}

    void on_output(int& x) override {
      heard.set_value(x);
      self()->quit();
    }

    void on_error(const status_error& x) override {
      heard.set_exception(std::make_exception_ptr(x));
      self()->quit();
    }

    gate opened;
    bool is_open = false;
  };
  const gate opened;
  heard = {};
  there.spawn([&](caf::stateful_actor<reader>* self) {
    self->state.opened = opened;
    far->open(self->state, with_keep(1min));
    return caf::behavior{self->state.handlers()};
  });
  opened.wait();
  lose_client_until_the_end();
  EXPECT_EQ(heard.get_future().get(), 7);
}

TEST_F(lost_ends, a_run_waits_until_its_end_is_taken) {
  std::promise<run_id> run;
  std::promise<void> refused;
  const auto desk
    = remote_actor<front_desk_actor>(there, "127.0.0.1", link->port());
  const auto client = there.spawn([&](caf::event_based_actor* self) {
    open_options kept;
    kept.disconnect = on_disconnect::keep;
    self
      ->request(
        desk, patience,
        open_request{
          "/bidi-flow/counter", {}, kept, caf::actor_cast<chunk_sink>(self)})
      .then([&, self](const open_result& x) {
        run.set_value(x.attached.run);
        self->send(x.connection, turn_input{payload::of(1)});
        self->send(x.connection, caf::close_atom_v);
      });
    return caf::behavior{
      [&refused](const completion&) -> caf::result<void> {
        refused.set_value();
        return fail(errc::unavailable, "it is away");
      },
      [](const input_credit&) {},
      // CAF sends the errors of these back, although nobody asks for an answer.
      [](const chunk_batch&) -> caf::result<void> {
        return fail(errc::unavailable, "it is away");
      },
      [](const turn_end&) -> caf::result<void> {
        return fail(errc::unavailable, "it is away");
      },
    };
  });
  refused.get_future().get();
  auto talk = counter().stream_bidi(with_run(run.get_future().get()));
  EXPECT_EQ(talk.output(patience), 1);
  caf::anon_send_exit(client, caf::exit_reason::user_shutdown);
}

} // namespace tertulia::test::lost_ends_tests
