// SPDX-License-Identifier: BSD-3-Clause

#include "chat_models.hpp"

#include <tertulia/ai/offline_model.hpp>
#include <tertulia/ai/openai_model.hpp>

#include <algorithm>
#include <utility>

#include "output/shown_text.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

ai::model define_eliza(runtime& rt, std::string name,
                       const std::string& variant, caf::timespan pause) {
  if (!variant.empty())
    reject_usage("\"eliza\" has no variants");
  ai::offline_options options;
  options.word_pause = pause;
  return ai::define_offline_model(rt, std::move(name), options);
}

ai::model define_at_server(runtime& rt, std::string name,
                           const std::string& variant, caf::timespan) {
  if (variant.empty())
    reject_usage("the server has several models",
                 "Name one, as in openai:gpt-4o-mini.");
  ai::openai_options options;
  options.model = variant;
  return ai::define_openai_model(rt, std::move(name), std::move(options));
}

} // namespace

const std::vector<model_kind>& model_kinds() {
  static const std::vector<model_kind> result{
    {"eliza",
     "Turns your statements into questions; needs neither a key nor a network",
     define_eliza},
    {"openai",
     "openai:NAME is a model of a server that speaks OpenAI's chat "
     "completions: the one at OPENAI_BASE_URL, with the key in OPENAI_API_KEY",
     define_at_server},
  };
  return result;
}

std::string model_names() {
  std::vector<std::string> names;
  for (const auto& x : model_kinds())
    names.emplace_back(x.name);
  return joined(names);
}

task<ai::model_response>
chat_models::chosen_model::ask(std::shared_ptr<model_slot> slot, context ctx,
                               ai::generate_request request,
                               ai::chunk_callback on_chunk) {
  auto model = [&] {
    const std::lock_guard guard{slot->mutex};
    return slot->model;
  }();
  auto asking
    = on_chunk ? model->generate(ctx, std::move(request), std::move(on_chunk))
               : model->generate(ctx, std::move(request));
  co_return co_await std::move(asking);
}

chat_models::chat_models(runtime& rt, const std::string& name,
                         caf::timespan pause)
  : rt_(rt), pause_(pause) {
  choose(name.empty() ? model_kinds().front().name : name);
}

void chat_models::choose(const std::string& name) {
  auto& model = defined_[name];
  if (!model) {
    const auto colon = name.find(':');
    const auto kind_name = name.substr(0, colon);
    const auto& kinds = model_kinds();
    const auto kind
      = std::find_if(kinds.begin(), kinds.end(),
                     [&](const model_kind& x) { return kind_name == x.name; });
    if (kind == kinds.end())
      reject_usage(fmt::format("there is no model \"{}\"", shown(name)),
                   fmt::format("Models: {}.", model_names()));
    model = std::make_shared<const ai::model>(kind->define(
      rt_, name,
      colon == std::string::npos ? std::string{} : name.substr(colon + 1),
      pause_));
  }
  name_ = name;
  const std::lock_guard guard{chosen_.slot_->mutex};
  chosen_.slot_->model = model;
}

} // namespace tertulia::tool
