// SPDX-License-Identifier: BSD-3-Clause
// expect: member_without_json<app::line, std::thread
// expect: app::line::packer>
// expect: a member of this struct has no JSON form

#include <tertulia/define_agent.hpp>
#include <tertulia/runtime.hpp>

#include <thread>

namespace app {

struct line {
  std::string article;
  std::thread packer;
};

BOOST_DESCRIBE_STRUCT(line, (), (article, packer))

struct order {
  std::vector<line> lines;
};

BOOST_DESCRIBE_STRUCT(order, (), (lines))

tertulia::task<> take(tertulia::context, tertulia::agent_session<order>,
                      tertulia::input<std::string>,
                      tertulia::agent_responder<std::string>);

} // namespace app

void define(tertulia::runtime& rt) {
  define_agent(rt, "orders", app::take);
}
