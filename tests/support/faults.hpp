// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/descriptor.hpp>
#include <tertulia/store/runs.hpp>

#include <caf/all.hpp>

#include <atomic>
#include <string>
#include <utility>

#include "support/threaded.hpp"

namespace tertulia::test {

/// Fixture for tests of failures: whatever fails, the client receives one
/// error, the body unwinds and no actor is left behind.
struct faults : threaded {
  using talk_type = connection<int, int, int>;

  /// Defines a flow with this body, whose host and error the test can access.
  template <class Body>
  auto define(Body body) {
    return rt->define_bidi_flow(
      "faulty" + std::to_string(++defined_),
      [this, body](context ctx, input<int> in, output<int> out) -> task<int> {
        const witness here;
        host_ = caf::actor_cast<caf::actor>(detail::access::owner(ctx).self());
        try {
          co_await body(ctx, in, out);
        } catch (const status_error& error) {
          seen_ = error.code();
          throw;
        }
        co_return 7;
      });
  }

  /// Defines a flow whose body is a plain actor that sends its inputs back.
  auto define_actor_body() {
    return rt->define_bidi_flow(
      "actor_body",
      [this](connection_actor::pointer self, client_port<int, int, int> client,
             nothing) -> connection_actor::behavior_type {
        host_ = caf::actor_cast<caf::actor>(self);
        reach();
        return {
          [=](turn_input& x) { client.send(client.read(x)); },
          [=](chunk_credit x) { client.on(x); },
          [=](caf::close_atom) { client.finish(0); },
          [=](cancel_atom) { self->quit(); },
        };
      });
  }

  /// Reports that a body is about to wait. Called by the body.
  void reach() {
    reached_ = true;
  }

  bool reached() {
    return eventually([this] { return reached_.load(); });
  }

  /// Kills the actor that hosts the body.
  /// @pre reached()
  void kill_host(caf::exit_reason reason = caf::exit_reason::kill) {
    caf::anon_send_exit(host_, reason);
  }

  /// Opens a connection whose client actor can be killed with `kill_client`.
  template <class Init, class In, class Out, class Stream>
  auto open_mortal(const bidi_action<Init, In, Out, Stream>& flow) {
    const auto listener = system.spawn<caf::hidden>(
      [this](
        front_desk_actor::pointer self) -> front_desk_actor::behavior_type {
        return {
          [=, this](open_request& x) {
            client_ = x.client;
            return self->delegate(rt->front_desk(), std::move(x));
          },
          [](const run_request&) { return run_info{}; },
          [](const list_runs_request&) { return run_page{}; },
          [](list_atom) { return action_list{}; },
          [](caf::get_atom, const std::string&) {
            return caf::strong_actor_ptr{};
          },
        };
      });
    return detail::access::make<bidi_action<Init, In, Out, Stream>>(
             detail::action_ref{&system, listener, flow.info().key, nullptr,
                                nullptr})
      .stream_bidi();
  }

  /// Kills the actor that receives the messages of a connection for its client.
  void kill_client() {
    caf::anon_send_exit(std::exchange(client_, nullptr),
                        caf::exit_reason::kill);
  }

  template <class In, class Out, class Stream>
  static status_error end_of(connection<In, Out, Stream>& talk) {
    const auto first = error_of([&] {
      while (!talk.finished())
        read_turn(talk);
      talk.output(patience);
    });
    for (int i = 0; i < 2; ++i) {
      const auto read = error_of([&] { read_turn(talk); });
      const auto result = error_of([&] { talk.output(patience); });
      EXPECT_EQ(read.code(), first.code());
      EXPECT_EQ(result.code(), first.code());
      EXPECT_STREQ(read.what(), first.what());
      EXPECT_STREQ(result.what(), first.what());
    }
    return first;
  }

  /// Checks that the connection has ended with this error, for every call and
  /// for good.
  template <class In, class Out, class Stream>
  static void expect_error(connection<In, Out, Stream>& talk, errc code,
                           const std::string& message) {
    const auto error = end_of(talk);
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(error.message(), message);
    if constexpr (std::is_same_v<In, int>) {
      EXPECT_NE(code_from([&] { talk.send(1); }), errc::ok);
    }
  }

  /// Checks as above, and that nothing of the connection is left.
  template <class In, class Out, class Stream>
  void expect_end(connection<In, Out, Stream>& talk, errc code,
                  const std::string& message) {
    expect_error(talk, code, message);
    EXPECT_TRUE(nothing_is_left());
  }

  /// Returns the error that the body has received. Call it when nothing is
  /// left.
  errc seen() const {
    return seen_;
  }

  caf::actor host_;
  chunk_sink client_;

private:
  int defined_ = 0;
  std::atomic<bool> reached_ = false;
  std::atomic<errc> seen_ = errc::ok;
};

} // namespace tertulia::test
