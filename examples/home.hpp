// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/describe.hpp>
#include <tertulia/status.hpp>
#include <tertulia/type_ids.hpp>

#include <caf/all.hpp>

#include <chrono>

// An application of plain CAF actors: a thermostat, a panel on the wall that
// shows its set point, and a sensor. None of them depends on agents.

namespace home {

// A message of the application. Its description makes it the input of a tool.
struct set_point {
  double degrees = 0;
};

BOOST_DESCRIBE_STRUCT(set_point, (), (degrees))

using thermostat_actor
  = caf::typed_actor<caf::replies_to<set_point>::with<double>,
                     caf::replies_to<caf::get_atom>::with<double>>;

/// Name of the sensor in the registry of the actor system.
constexpr auto sensor_name = caf::atom("sensor");

/// Longest wait for an answer of any actor.
constexpr auto patience = std::chrono::seconds{10};

} // namespace home

CAF_BEGIN_TYPE_ID_BLOCK(home, caf::id_block::tertulia_messages::end)

  CAF_ADD_TYPE_ID(home, (home::set_point))

CAF_END_TYPE_ID_BLOCK(home)

namespace home {

struct degrees_state {
  explicit degrees_state(caf::local_actor*) {}

  double degrees = 18;
};

inline caf::behavior run_panel(caf::stateful_actor<degrees_state>* self) {
  return {
    [=](const set_point& x) { self->state.degrees = x.degrees; },
    [=](caf::get_atom) { return self->state.degrees; },
  };
}

inline thermostat_actor::behavior_type
run_thermostat(thermostat_actor::stateful_pointer<degrees_state> self,
               const caf::actor& panel) {
  return {
    [=](const set_point& x) -> caf::result<double> {
      if (!(x.degrees >= 5 && x.degrees <= 30))
        return tertulia::fail(tertulia::errc::out_of_range,
                              "the heating goes from 5 to 30 degrees");
      self->state.degrees = x.degrees;
      self->anon_send(panel, x);
      return x.degrees;
    },
    [=](caf::get_atom) { return self->state.degrees; },
  };
}

inline caf::behavior run_sensor(caf::event_based_actor*, double degrees) {
  return {[=](caf::get_atom) { return degrees; }};
}

/// Owns all actors, and offers the actions of a person in the home.
///
/// @threads only the thread that created it.
class application {
public:
  explicit application(caf::actor_system& system)
    : system_(system), self_(system), panel_(system.spawn(run_panel)),
      thermostat_(system.spawn(run_thermostat, panel_)) {
    mount_sensor(17.5);
  }

  application(const application&) = delete;
  application& operator=(const application&) = delete;

  ~application() {
    break_sensor();
    self_->send_exit(thermostat_, caf::exit_reason::user_shutdown);
    self_->send_exit(panel_, caf::exit_reason::user_shutdown);
  }

  [[nodiscard]] const thermostat_actor& thermostat() const noexcept {
    return thermostat_;
  }

  /// Returns the value on the panel.
  [[nodiscard]] double look_at_panel() {
    double result = 0;
    self_->request(panel_, patience, caf::get_atom_v)
      .receive([&](double x) { result = x; }, tertulia::raise);
    return result;
  }

  void turn_knob(double degrees) {
    self_->request(thermostat_, patience, set_point{degrees})
      .receive([](double) {}, tertulia::raise);
  }

  /// Kills the sensor, but leaves its name in the registry.
  void break_sensor() {
    if (const auto old = system_.registry().get<caf::actor>(sensor_name)) {
      self_->send_exit(old, caf::exit_reason::kill);
      self_->wait_for(old);
    }
  }

  void mount_sensor(double degrees) {
    break_sensor();
    system_.registry().erase(sensor_name); // `put` does not replace an entry
    system_.registry().put(sensor_name, system_.spawn(run_sensor, degrees));
  }

private:
  caf::actor_system& system_;
  caf::scoped_actor self_;
  caf::actor panel_;
  thermostat_actor thermostat_;
};

} // namespace home
