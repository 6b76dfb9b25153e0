// SPDX-License-Identifier: BSD-3-Clause

// A client that watches an agent at work: the progress of its tool, and the
// changes of the custom value.

#include <tertulia/ai/custom_view.hpp>
#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/describe.hpp>

#include <cstddef>
#include <iostream>
#include <string>
#include <vector>

#include "scripted_model.hpp"

namespace ai = tertulia::ai;
using tertulia::json;

struct album {
  std::string title;
  std::vector<std::string> pictures;
};

BOOST_DESCRIBE_STRUCT(album, (), (title, pictures))

struct folder {
  std::vector<std::string> files;
};

BOOST_DESCRIBE_STRUCT(folder, (), (files))

auto define_librarian(tertulia::runtime& rt) {
  // --(report-begin)--
  const auto import = ai::define_tool(
    rt, "import", "Imports pictures.",
    [](ai::tool_context ctx, folder from) -> tertulia::task<std::size_t> {
      const auto chat = ctx.session<ai::chat_session<album>>();
      for (std::size_t i = 0; i < from.files.size(); ++i) {
        co_await chat->patch_custom(
          [&](album& x) { x.pictures.push_back(from.files[i]); });
        json progress;
        progress["done"] = i + 1;
        progress["of"] = from.files.size();
        co_await ctx.report(progress);
      }
      co_return from.files.size();
    });
  // --(report-end)--
  const auto model = ai::define_model(
    rt, "script",
    example::scripted_model{
      {{"Import",
        ai::message{ai::role::model,
                    {ai::part::request(
                      "import", {{"files", {"lisbon.png", "porto.png"}}})}}},
       {"import 2", ai::model_text("Both are there.")}}});
  return ai::define_prompt_agent<album>(
    rt, "librarian", ai::prompt{model, ai::with_tools(import)});
}

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  const auto librarian = define_librarian(rt);

  // --(deltas-begin)--
  auto talk = librarian.stream_bidi(ai::with_custom_deltas{});
  talk.send_text("Import my pictures.");
  ai::custom_view<album> seen;
  for (const auto& item : talk.responses()) {
    if (seen.apply(item))
      std::cout << tertulia::to_json_text(item.custom_patch) << '\n'
                << seen.value()->pictures.size() << " pictures\n";
    if (!item.chunk)
      continue;
    for (const auto& report : ai::progress_in(item.chunk->content))
      std::cout << report.name << ": " << report.value << '\n';
    std::cout << item.chunk->text();
  }
  // --(deltas-end)--
  std::cout << '\n';
}
