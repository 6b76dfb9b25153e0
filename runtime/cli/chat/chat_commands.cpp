// SPDX-License-Identifier: BSD-3-Clause

#include "chat_commands.hpp"

#include <tertulia/descriptor.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include "output/shown_text.hpp"
#include "output/table.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

using chat_words = std::vector<std::string>;

struct chat_command {
  const char* name;
  const char* arguments;
  const char* help;
  std::size_t min_arguments;
  std::size_t max_arguments;
  void (*run)(chat& x, const chat_words& arguments);
};

std::string chat_word(const chat_words& x, std::size_t i) {
  return i < x.size() ? x[i] : std::string{};
}

void begin_session(chat& x, const chat_words&) {
  x.begin();
  x.tell("This is a new conversation. The previous one is kept: /sessions "
         "lists all.");
}

void show_tools(chat& x, const chat_words&) {
  table rows{x.environment().out(),
             {{"TOOL", column_kind::fixed},
              {"DESCRIPTION", column_kind::text}}};
  for (const auto& y : x.agent().tools()) {
    const auto& info = y.info();
    if (x.environment().as_json())
      x.environment().out().json_line(
        {{"name", info.name}, {"description", info.description}});
    else
      rows.row({info.name, info.description});
  }
  rows.print();
}

void show_or_choose_model(chat& x, const chat_words& arguments) {
  if (x.agent().models() == nullptr)
    reject_usage("the running program chooses the model");
  auto& models = *x.agent().models();
  if (!arguments.empty()) {
    models.choose(arguments[0]);
    x.tell(fmt::format("{} answers from now on.", shown(models.name())));
    return;
  }
  table rows{x.environment().out(),
             {{"", column_kind::fixed},
              {"MODEL", column_kind::fixed},
              {"DESCRIPTION", column_kind::text}}};
  const auto chosen = models.name().substr(0, models.name().find(':'));
  for (const auto& y : model_kinds()) {
    const auto answers = chosen == y.name;
    if (x.environment().as_json())
      x.environment().out().json_line({{"name", y.name},
                                       {"description", y.description},
                                       {"answers", answers}});
    else
      rows.row(
        {answers ? "*" : "", answers ? models.name() : y.name, y.description});
  }
  rows.print();
}

void show_help(chat& x, const chat_words&) {
  x.environment().out().line(chat_command_help());
}

void quit(chat& x, const chat_words&) {
  x.end();
}

constexpr std::array<chat_command, 12> chat_commands{{
  {"/snapshots", "", "print the conversation as a tree: * current, x orphaned",
   0, 0, [](chat& x, const chat_words&) { chat_show_snapshots(x); }},
  {"/restore", "ID", "go back to a snapshot; later snapshots are orphaned", 1,
   1, [](chat& x, const chat_words& y) { chat_restore(x, y[0]); }},
  {"/branch", "[ID]", "continue from a snapshot in a copy of the conversation",
   0, 1, [](chat& x, const chat_words& y) { chat_branch(x, chat_word(y, 0)); }},
  {"/diff", "A [B]", "compare two snapshots; B is the current one by default",
   1, 2,
   [](chat& x, const chat_words& y) { chat_diff(x, y[0], chat_word(y, 1)); }},
  {"/session", "", "print this conversation and where it is stored", 0, 0,
   [](chat& x, const chat_words&) { chat_show_session(x); }},
  {"/sessions", "", "list all conversations", 0, 0,
   [](chat& x, const chat_words&) { chat_show_sessions(x); }},
  {"/new", "", "start a new conversation", 0, 0, begin_session},
  {"/resume", "ID", "continue another conversation", 1, 1,
   [](chat& x, const chat_words& y) { chat_resume(x, y[0]); }},
  {"/tools", "",
   "list the tools of the model; to use one: \"use the dice tool\"", 0, 0,
   show_tools},
  {"/model", "[NAME]", "list the models, or choose the one that answers", 0, 1,
   show_or_choose_model},
  {"/help", "", "print this list", 0, 0, show_help},
  {"/quit", "", "quit, as Ctrl-D does", 0, 0, quit},
}};

chat_words words_of(const std::string& line) {
  constexpr const char* blanks = " \t\r";
  chat_words result;
  for (std::size_t at = 0;;) {
    at = line.find_first_not_of(blanks, at);
    if (at == std::string::npos)
      return result;
    const auto end = std::min(line.find_first_of(blanks, at), line.size());
    result.push_back(line.substr(at, end - at));
    at = end;
  }
}

std::string usage_of(const chat_command& x) {
  return fmt::format("{}{}{}", x.name, *x.arguments == '\0' ? "" : " ",
                     x.arguments);
}

} // namespace

bool is_chat_command(std::string_view line) {
  return line.starts_with('/') && !line.starts_with("//");
}

std::string chat_text(std::string line) {
  if (line.starts_with('/'))
    line.erase(0, 1);
  return line;
}

std::string chat_command_help() {
  constexpr std::size_t width = 15;
  std::string result;
  for (const auto& x : chat_commands) {
    auto usage = usage_of(x);
    usage.resize(std::max(width, usage.size() + 1), ' ');
    result += fmt::format("  {}{}\n", usage, x.help);
  }
  result += "An ID is a number of /snapshots, or the beginning of an id.\n"
            "Start a line with // to send a leading slash.";
  return result;
}

void run_chat_command(chat& x, const std::string& line) {
  auto words = words_of(line);
  const auto name = words.front();
  words.erase(words.begin());
  const auto* const found
    = std::find_if(chat_commands.begin(), chat_commands.end(),
                   [&](const chat_command& y) { return name == y.name; });
  if (found == chat_commands.end())
    reject_usage(fmt::format("there is no command {}", shown(name)),
                 "/help lists the commands. Start a line with // to send a "
                 "leading slash.");
  if (words.size() < found->min_arguments
      || words.size() > found->max_arguments)
    reject_usage(fmt::format("usage: {}", usage_of(*found)));
  found->run(x, words);
  x.environment().out().flush();
}

} // namespace tertulia::tool
