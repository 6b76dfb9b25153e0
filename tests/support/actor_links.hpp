// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/protocol.hpp>
#include <tertulia/status.hpp>

#include <caf/actor_cast.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <chrono>
#include <functional>
#include <utility>

namespace tertulia::test {

/// Passes everything on between a client and its connection, until one of them
/// is gone. Stands for the link between two nodes.
struct link_state {
  explicit link_state(caf::event_based_actor* self) : self(self) {}

  caf::behavior make_behavior(const front_desk_actor& desk) {
    self->set_down_handler([this](const caf::down_msg&) { self->quit(); });
    return {[this, desk](open_request& x) -> caf::result<open_result> {
      client = caf::actor_cast<caf::actor>(x.client);
      self->monitor(client);
      x.client
        = caf::actor_cast<chunk_sink>(caf::strong_actor_ptr{self->ctrl()});
      auto answer = self->make_response_promise<open_result>();
      self->request(desk, caf::infinite, std::move(x))
        .then(
          [this, answer](open_result& y) mutable {
            is_kept = !y.attached.run.empty();
            peer = caf::actor_cast<caf::actor>(y.connection);
            self->monitor(peer);
            y.connection = caf::actor_cast<connection_actor>(
              caf::strong_actor_ptr{self->ctrl()});
            self->set_default_handler(
              [this](caf::scheduled_actor*, caf::message_view& found) {
                return pass(found.move_content_to_message());
              });
            answer.deliver(std::move(y));
          },
          [answer](caf::error& reason) mutable {
            answer.deliver(std::move(reason));
          });
      return answer;
    }};
  }

  caf::result<caf::message> pass(caf::message x) {
    const auto is_end
      = is_kept ? x.match_elements<run_request>()
                    && x.get_as<run_request>(0).verb == run_verb::confirm
                : x.match_elements<completion>();
    const auto& from = self->current_sender();
    if (from && from->address() == peer.address())
      self->send(client, std::move(x));
    else
      caf::anon_send(peer, std::move(x));
    if (is_end)
      self->quit();
    return caf::message{};
  }

  caf::event_based_actor* self;
  caf::actor client;
  caf::actor peer; ///< the connection
  bool is_kept = false;
};

using link_actor = caf::stateful_actor<link_state>;

/// Guide that finds a new desk each time, after a pause.
struct guide_state {
  explicit guide_state(caf::event_based_actor* self) : self(self) {}

  caf::behavior make_behavior(std::function<front_desk_actor()> find) {
    self->set_down_handler([this](const caf::down_msg& x) {
      if (desk && x.source == desk.address() && std::exchange(watches, false))
        lost.deliver(fail(errc::unavailable, "the desk was lost"));
    });
    return {
      [this](caf::connect_atom, const caf::error&) -> caf::result<caf::actor> {
        end_watch();
        found = self->make_response_promise<caf::actor>();
        self->delayed_send(self, std::chrono::milliseconds{50},
                           caf::tick_atom_v);
        return found;
      },
      [this, find](caf::tick_atom) {
        desk = find();
        self->monitor(desk);
        found.deliver(caf::actor_cast<caf::actor>(desk));
      },
      [this](caf::monitor_atom) -> caf::result<caf::ok_atom> {
        end_watch();
        watches = true;
        lost = self->make_response_promise<caf::ok_atom>();
        return lost;
      },
      [this](caf::close_atom) {
        end_watch();
        self->quit();
      },
    };
  }

  void end_watch() {
    if (std::exchange(watches, false))
      lost.deliver(fail(errc::cancelled, "another request has followed"));
  }

  caf::event_based_actor* self;
  front_desk_actor desk;
  caf::typed_response_promise<caf::actor> found;
  caf::typed_response_promise<caf::ok_atom> lost;
  bool watches = false;
};

} // namespace tertulia::test
