// SPDX-License-Identifier: BSD-3-Clause

// An agent in an application that has its own actors. Its tools send requests
// to them. The actors do not depend on the agent, and may change or die at any
// time.
//
//   home_agent          plays a scripted conversation
//   home_agent MODEL    talks to you, with a model at a server

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/openai_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/memory_store.hpp>

#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>

#include "home.hpp"
#include "scripted_model.hpp"
#include "terminal_talk.hpp"

namespace ai = tertulia::ai;

// -- agent --------------------------------------------------------------------

auto define_agent(tertulia::runtime& rt, const ai::model& model,
                  const home::thermostat_actor& thermostat) {
  using home::patience;
  using tertulia::nothing;
  using tertulia::task;
  // --(tools-begin)--
  auto set = ai::define_tool(rt, "set_heating", "Sets the heating, in Celsius.",
                             ai::asking<home::set_point>(thermostat, patience));

  auto get = ai::define_tool(
    rt, "get_heating", "Says what the heating is set to, in Celsius.",
    [=](ai::tool_context ctx, nothing) -> task<double> {
      co_return co_await ctx.ask(thermostat, patience, caf::get_atom_v);
    });

  auto measure = ai::define_tool(
    rt, "measure", "Says how warm it is, in Celsius.",
    [](ai::tool_context ctx, nothing) -> task<double> {
      // The sensor of this moment. If it is dead, the model gets an error.
      auto sensor = ctx.system().registry().get<caf::actor>(home::sensor_name);
      co_return co_await ctx.ask<double>(sensor, patience, caf::get_atom_v);
    });
  // --(tools-end)--
  return ai::define_prompt_agent(
    rt, "home",
    ai::prompt{model, ai::with_system("You look after a home. Be brief."),
               ai::with_tools(set, get, measure)},
    tertulia::with_snapshot_store(tertulia::spawn_memory_store(rt.system())));
}

// -- script -------------------------------------------------------------------

const auto lines = R"(It is cold in here.
/panel
/knob 19
What is the heating set to now?
Make it as hot as it gets. 40?
/break
Is it warm by now?
/repair
Look again, please.
/panel
)";

ai::message asks(const char* tool, tertulia::json input = {}) {
  return {ai::role::model, {ai::part::request(tool, std::move(input))}};
}

const example::scripted_model script{{
  {"It is cold", asks("measure")},
  {"measure 17.5", asks("set_heating", {{"degrees", 21}})},
  {"set_heating 21", ai::model_text("17.5 degrees, brr. I heat to 21.")},
  {"What is the heating", asks("get_heating")},
  {"get_heating 19", ai::model_text("19: somebody has turned it down.")},
  {"as hot as it gets", asks("set_heating", {{"degrees", 40}})},
  {"out_of_range", ai::model_text("Not that hot: it goes up to 30.")},
  {"Is it warm", asks("measure")},
  {"unavailable", ai::model_text("I cannot say: the sensor is silent.")},
  {"Look again", asks("measure")},
  {"measure 20.5", ai::model_text("It works again. 20.5 degrees!")},
}};

// -- conversation -------------------------------------------------------------

/// Runs the command of a person in the home, if the line is one.
/// @returns false if the line is a text for the agent.
bool act(home::application& app, const std::string& line) {
  if (line == "/panel")
    std::cout << "(the panel shows " << app.look_at_panel() << ")\n";
  else if (line.starts_with("/knob "))
    app.turn_knob(std::stod(line.substr(6)));
  else if (line == "/break")
    app.break_sensor();
  else if (line == "/repair")
    app.mount_sensor(20.5);
  else
    return false;
  return true;
}

template <class Agent>
void talk(const Agent& agent, home::application& app, std::istream& in) {
  const tertulia::with_session_id here{"living-room"};
  auto live = agent.stream_bidi(here);
  for (std::string line; example::next_line(in, line);) {
    example::turn_printer printer;
    try {
      if (act(app, line))
        continue;
      live.send_text(line);
      for (const auto& item : live.responses())
        if (item.chunk)
          printer.show(*item.chunk);
      printer.end_line();
    } catch (const std::exception& x) {
      printer.end_line();
      std::cout << "That went wrong: " << example::shown(x.what()) << '\n';
      if (live.finished()) // continues after the previous turn
        live = agent.stream_bidi(here, tertulia::with_take_over{});
    }
  }
}

int main(int argc, char** argv) {
  caf::actor_system_config cfg; // the application's own configuration
  cfg.add_message_types<caf::id_block::home>();
  tertulia::add_messages_to(cfg);
  caf::actor_system system{cfg};
  home::application app{system};

  tertulia::runtime rt{system};
  if (argc > 1) {
    ai::openai_options options;
    options.model = argv[1]; // the key is in OPENAI_API_KEY
    const auto model = ai::define_openai_model(rt, "server", options);
    talk(define_agent(rt, model, app.thermostat()), app, std::cin);
  } else {
    const auto model = ai::define_model(rt, "script", script);
    std::istringstream play{lines};
    talk(define_agent(rt, model, app.thermostat()), app, play);
  }
}
