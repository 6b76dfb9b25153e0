// SPDX-License-Identifier: BSD-3-Clause

// Options of an HTTP server: what clients see of a store, who approves for
// whom, and what is removed from every document that leaves.

#include <tertulia/config.hpp>
#include <tertulia/http_server.hpp>
#include <tertulia/runtime.hpp>

#include <iostream>

namespace {

// --(expose-begin)--
void serve_sessions(tertulia::runtime& rt) {
  tertulia::http_server web{
    rt, {.expose = {"/session-flow/chat", "/snapshot-store/chat/*"}}};
}
// --(expose-end)--

// --(approve-begin)--
void serve_approver(tertulia::runtime& rt) {
  tertulia::http_server web{
    rt, {.approve = [](const tertulia::approval_request& x) {
      return x.caller == "bob" && x.owner == "ann";
    }}};
}
// --(approve-end)--

// --(redact-begin)--
void remove_cards(tertulia::json& x) {
  if (x.is_object())
    x.erase("card");
  if (x.is_structured())
    for (auto& member : x)
      remove_cards(member);
}

void serve_without_cards(tertulia::runtime& rt) {
  tertulia::http_server web{
    rt, {.redact = [](const tertulia::outgoing_value&, tertulia::json& x) {
      remove_cards(x);
    }}};
}
// --(redact-end)--

} // namespace

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  serve_sessions(rt);
  serve_approver(rt);
  serve_without_cards(rt);
  tertulia::json order;
  order["guest"]["name"] = "Ann";
  order["guest"]["card"] = "4111 1111 1111 1111";
  remove_cards(order);
  std::cout << order << '\n';
}
