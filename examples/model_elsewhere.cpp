// SPDX-License-Identifier: BSD-3-Clause

// A model on another node, and a local model for when that node is gone. The
// agent does not notice which of them answers.

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/offline_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/config.hpp>
#include <tertulia/remote_runtime.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/tls.hpp>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <utility>

namespace ai = tertulia::ai;

// --(reserve-begin)--
/// Asks one model, and another one if that is not there.
class with_reserve {
public:
  with_reserve(ai::model first, ai::model reserve)
    : first_(std::move(first)), reserve_(std::move(reserve)) {}

  tertulia::task<ai::model_response> generate(tertulia::context ctx,
                                              ai::generate_request request,
                                              ai::chunk_callback hear) const {
    auto is_silent = true;
    const auto listen = [&](auto piece) {
      is_silent = false;
      return hear(std::move(piece));
    };
    try {
      co_return co_await first_.generate(ctx, request, listen);
    } catch (const tertulia::status_error& x) {
      if (x.code() != tertulia::errc::unavailable || !is_silent)
        throw; // another model cannot continue an answer
    }
    co_return co_await reserve_.generate(ctx, std::move(request), hear);
  }

  tertulia::task<ai::model_response>
  generate(tertulia::context ctx, ai::generate_request request) const {
    return generate(ctx, std::move(request),
                    [](auto) -> tertulia::task<> { co_return; });
  }

private:
  ai::model first_;
  ai::model reserve_;
};

static_assert(ai::model_like<with_reserve>);
// --(reserve-end)--

// --(network-begin)--
/// Lets nodes in that have a certificate which `tertulia pki` has issued in the
/// folder. Without a folder everybody gets in who reaches the port, and can end
/// this process: on a machine for yourself, to try things out.
tertulia::config& join_network(tertulia::config& cfg, const std::string& folder,
                               const std::string& name) {
  if (folder.empty())
    add_network_to(cfg, tertulia::transport::plain_for_trusted_hosts);
  else
    add_network_to(cfg, tertulia::tls_files::of(folder, name));
  return cfg;
}
// --(network-end)--

/// A node, which would be a process of its own in a real program.
struct node {
  node(const std::string& folder, const std::string& name,
       tertulia::runtime_options options = {})
    : system(join_network(cfg, folder, name)), rt(system, options) {}

  tertulia::config cfg;
  caf::actor_system system;
  tertulia::runtime rt;
};

tertulia::task<ai::model_response> apologize(tertulia::context,
                                             ai::generate_request request,
                                             ai::model_output out) {
  const auto text = "Nobody is there, but \"" + request.messages.back().text()
                    + "\" is noted.";
  co_await out.send_text(text);
  co_return ai::model_response{ai::model_text(text), ai::finish_reason::stop};
}

ai::model find_model(caf::actor_system& system, std::uint16_t port) {
  // --(elsewhere-begin)--
  // There is a reserve: a call does not wait for a node that is away.
  const tertulia::remote_runtime there{
    system, {{"127.0.0.1", port}}, {.patience = std::chrono::seconds{0}}};
  const auto eliza = there.action<ai::model>("/model/eliza");
  // --(elsewhere-end)--
  return eliza;
}

template <class Talk>
void say(Talk& talk, const std::string& text) {
  std::cout << "> " << text << '\n';
  talk.send_text(text);
  for (const auto& item : talk.responses())
    if (item.chunk)
      std::cout << item.chunk->text();
  std::cout << '\n';
}

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "";
  // --(expose-begin)--
  tertulia::runtime_options options;
  options.expose.push_back("/model/*");
  // --(expose-end)--
  std::optional<node> there{std::in_place, folder, "server", options};
  [[maybe_unused]] const auto theirs = ai::define_offline_model(there->rt);

  node here{folder, "client"};
  const auto far = find_model(here.system, there->rt.publish());
  const auto near = ai::define_model(here.rt, "apologies", apologize);
  // --(agent-begin)--
  const auto chat = ai::define_prompt_agent(
    here.rt, "chat", ai::prompt{with_reserve{far, near}});
  // --(agent-end)--
  auto talk = chat.stream_bidi();
  say(talk, "Hello, my name is Ada.");
  there.reset();
  say(talk, "I am tired of my job.");
}
