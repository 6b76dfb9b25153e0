// SPDX-License-Identifier: BSD-3-Clause

// A flow that is a plain CAF behavior, in an application that has its own
// actors. It lets a client talk to the application's thermostat.

#include <tertulia/client_port.hpp>
#include <tertulia/runtime.hpp>

#include <caf/all.hpp>

#include <chrono>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

namespace {

// -- the application's own actor ----------------------------------------------

struct thermostat_state {
  explicit thermostat_state(caf::event_based_actor*) {}

  double target = 20.0;
};

caf::behavior thermostat(caf::stateful_actor<thermostat_state>* self) {
  return {
    [=](caf::put_atom, double target) { self->state.target = target; },
    [=](caf::get_atom) { return self->state.target; },
  };
}

// --(actor-body-begin)--
// Each input is a wish in degrees; each chunk says what the thermostat does.
auto room_control(const caf::actor& device) {
  return [=](tertulia::connection_actor::pointer self,
             tertulia::client_port<double, std::string, std::string> client,
             tertulia::nothing) -> tertulia::connection_actor::behavior_type {
    const auto give_up = [=](const caf::error&) {
      client.fail(tertulia::errc::unavailable, "the device does not answer");
    };
    return {
      [=](tertulia::turn_input& x) {
        self->anon_send(device, caf::put_atom_v, client.read(x));
        self->request(device, 10s, caf::get_atom_v)
          .then(
            [=](double target) {
              client.send("heating to " + std::to_string(target).substr(0, 4));
              client.end_turn();
            },
            give_up);
      },
      [=](tertulia::chunk_credit x) { client.on(x); },
      [=](caf::close_atom) {
        // It answers in order: then all that was asked before is answered, too.
        self->request(device, 10s, caf::get_atom_v)
          .then([=](double) { client.finish("good night"); }, give_up);
      },
      [=](tertulia::cancel_atom) { self->quit(); },
    };
  };
}
// --(actor-body-end)--

} // namespace

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  auto device = system.spawn(thermostat);
  {
    tertulia::runtime rt{system};
    auto flow = rt.define_bidi_flow("roomControl", room_control(device));

    auto talk = flow.stream_bidi();
    for (auto wish : {21.5, 18.0}) {
      talk.send(wish);
      for (const auto& chunk : talk.responses())
        std::cout << chunk << '\n';
    }
    talk.close();
    std::cout << talk.output() << '\n';
  }
  caf::anon_send_exit(device, caf::exit_reason::user_shutdown);
}
