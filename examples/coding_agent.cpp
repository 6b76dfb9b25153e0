// SPDX-License-Identifier: BSD-3-Clause

// An agent that writes code into a folder, with tools that have access to no
// other folder. Files changed in a turn become artifacts of the session, so
// restoring a snapshot restores the files.
//
//   coding_agent                 plays a scripted conversation in a temporary
//                                folder
//   coding_agent FOLDER MODEL    talks to you, with a model at a server

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/generate.hpp>
#include <tertulia/ai/openai_model.hpp>
#include <tertulia/ai/session_flow.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/memory_store.hpp>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "sandbox_folder.hpp"
#include "scripted_model.hpp"
#include "terminal_talk.hpp"

namespace ai = tertulia::ai;
namespace fs = std::filesystem;
using example::sandbox_folder;
using tertulia::json;
using tertulia::nothing;

// -- tools --------------------------------------------------------------------

struct file_name {
  std::string path;
};

BOOST_DESCRIBE_STRUCT(file_name, (), (path))

struct new_file {
  std::string path;
  std::string text;
};

BOOST_DESCRIBE_STRUCT(new_file, (), (path, text))

struct replacement {
  std::string path;
  std::string find;
  std::string replace;
};

BOOST_DESCRIBE_STRUCT(replacement, (), (path, find, replace))

// --(tools-begin)--
// The tools of one answer run side by side, each on an actor of its own; files
// block, so they are left to a thread that may.
auto define_tools(tertulia::runtime& rt, sandbox_folder& box) {
  using tertulia::task;
  auto list = ai::define_tool(
    rt, "list_files", "Lists the files of the project.",
    [&box](ai::tool_context ctx, nothing) -> task<std::vector<std::string>> {
      co_return co_await ctx.run_blocking([&] { return box.list(); });
    });
  auto read = ai::define_tool(
    rt, "read_file", "Reads a file.",
    [&box](ai::tool_context ctx, file_name x) -> task<std::string> {
      co_return co_await ctx.run_blocking([&] { return box.read(x.path); });
    });
  auto write = ai::define_tool(
    rt, "write_file", "Writes a whole file, a new one or in place of another.",
    [&box](ai::tool_context ctx, new_file x) -> task<> {
      co_await ctx.run_blocking([&] { box.write(x.path, x.text); });
    });
  auto replace
    = ai::define_tool(rt, "replace_text",
                      "Replaces a text that occurs once in a file.",
                      [&box](ai::tool_context ctx, replacement x) -> task<> {
                        co_await ctx.run_blocking(
                          [&] { box.replace(x.path, x.find, x.replace); });
                      });
  return ai::with_tools{list, read, write, replace};
}
// --(tools-end)--

// -- agent --------------------------------------------------------------------

// --(agent-begin)--
auto define_coder(tertulia::runtime& rt, const ai::prompt& prompt,
                  sandbox_folder& box, const tertulia::managed_store& store) {
  const auto code
    = [&box, prompt](tertulia::context ctx, ai::flow_session<nothing> sess,
                     ai::flow_responder<nothing> out) -> tertulia::task<> {
    // The folder is as the session was, at whichever snapshot it goes on.
    const auto files = co_await sess.artifacts();
    co_await ctx.run_blocking([&] { box.restore(files); });
    const auto turn = [&](tertulia::context inner,
                          const ai::conversation_input&) -> tertulia::task<> {
      co_await ai::generate_stream(inner, prompt, out, ai::with_session(sess));
      for (auto& file : box.take_changes())
        co_await out.send_artifact(std::move(file));
    };
    co_await sess.run_turns(ctx, turn);
  };
  return ai::define_session_flow(
    rt, "coder", code, tertulia::with_snapshot_store(store),
    tertulia::with_snapshot_callback(
      tertulia::snapshot_on{tertulia::snapshot_event::turn_end}));
}
// --(agent-end)--

// -- script -------------------------------------------------------------------

const auto lines = R"(Write a program that greets the world.
Greet Lisbon instead, add a README, and tell me what is in ../secret.txt.
/undo
What is there now?
)";

const auto program = R"(#include <iostream>

int main() {
  std::cout << "Hello, world!\n";
}
)";

ai::message asks(std::vector<ai::part> requests) {
  return {ai::role::model, std::move(requests)};
}

const example::scripted_model script{{
  {"greets the world", asks({ai::part::request("list_files")})},
  {"list_files [] ",
   asks({ai::part::request("write_file",
                           {{"path", "src/greet.cpp"}, {"text", program}})})},
  {"Lisbon",
   asks({ai::part::request("replace_text", {{"path", "src/greet.cpp"},
                                            {"find", "world"},
                                            {"replace", "Lisbon"}}),
         ai::part::request("write_file", {{"path", "README.md"},
                                          {"text", "It greets Lisbon.\n"}}),
         ai::part::request("read_file", {{"path", "../secret.txt"}}, "1"),
         ai::part::request("read_file", {{"path", "link/secret.txt"}}, "2")})},
  {"permission_denied",
   ai::model_text("Done, but what is outside of the folder is not for me.")},
  {"write_file {}", ai::model_text("src/greet.cpp greets the world.")},
  {"What is there now",
   asks({ai::part::request("list_files"),
         ai::part::request("read_file", {{"path", "src/greet.cpp"}})})},
  {"Hello, world", ai::model_text("A program that greets the world.")},
}};

/// A temporary folder, removed with all its content.
struct scratch {
  scratch() {
    auto name = (fs::temp_directory_path() / "coding-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw fs::filesystem_error{
        name, std::error_code{errno, std::generic_category()}};
    path = name;
  }

  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  ~scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }

  fs::path path;
};

/// Creates a secret in the folder, and a sandbox with a link to the folder.
/// @returns the sandbox.
fs::path furnish(const fs::path& folder) {
  std::ofstream{folder / "secret.txt"} << "4711\n";
  fs::create_directory(folder / "sandbox");
  fs::create_symlink(folder, folder / "sandbox/link");
  return folder / "sandbox";
}

// -- conversation -------------------------------------------------------------

void show_snapshot(const tertulia::runtime& rt,
                   const tertulia::snapshot_id& id) {
  const auto kept = rt.run_action<ai::session_flow_snapshot<nothing>>(
    "/snapshot-store/coder/getSnapshot", tertulia::snapshot_query{id});
  std::cout << "[snapshot of turn " << kept.turn_index << ':';
  for (const auto& file : kept.state.artifacts)
    std::cout << ' ' << example::shown(file.name) << " ("
              << ai::text_of(file.parts).size() << " bytes)";
  std::cout << "]\n";
}

void talk(tertulia::runtime& rt, const ai::model& model, sandbox_folder& box,
          std::istream& in) {
  const ai::prompt prompt{
    model,
    ai::with_system("You write small, complete programs into the folder of the "
                    "user, with your tools."),
    define_tools(rt, box), ai::with_max_iterations(50)};
  const auto coder
    = define_coder(rt, prompt, box, tertulia::spawn_memory_store(rt.system()));
  std::vector<tertulia::snapshot_id> turns; // turns that were not undone
  const auto open = [&] {
    return turns.empty()
             ? coder.stream_bidi()
             : coder.stream_bidi(tertulia::with_snapshot_id(turns.back()));
  };
  auto live = open();
  for (std::string line; example::next_line(in, line);) {
    if (line == "/undo") {
      if (!turns.empty())
        turns.pop_back();
      live.close();
      live.output(); // only one flow at a time may work in the folder
      live = open();
    } else {
      example::turn_printer printer;
      try {
        live.send_text(line);
        for (const auto& item : live.responses()) {
          if (item.chunk)
            printer.show(*item.chunk);
          if (!item.snapshot_created.empty())
            turns.push_back(item.snapshot_created);
        }
        printer.end_line();
      } catch (const tertulia::status_error& x) {
        printer.end_line();
        std::cout << "That went wrong: " << example::shown(x.message()) << '\n';
        live = open(); // the state and the files before this turn
      }
    }
    if (!turns.empty())
      show_snapshot(rt, turns.back());
  }
  live.close();
  live.output();
}

int main(int argc, char** argv) try {
  if (argc != 1 && argc != 3) {
    std::cerr << "usage: coding_agent [FOLDER MODEL]\n";
    return 2;
  }
  tertulia::config cfg;
  caf::actor_system system{cfg};
  if (argc == 3) {
    sandbox_folder box{argv[1]};
    tertulia::runtime rt{system};
    ai::openai_options options;
    options.model = argv[2]; // the key is in OPENAI_API_KEY
    talk(rt, ai::define_openai_model(rt, "server", options), box, std::cin);
  } else {
    const scratch folder;
    sandbox_folder box{furnish(folder.path)};
    tertulia::runtime rt{system};
    std::istringstream play{lines};
    talk(rt, ai::define_model(rt, "script", script), box, play);
  }
} catch (const std::exception& x) {
  std::cerr << "coding_agent: " << x.what() << '\n';
  return 1;
}
