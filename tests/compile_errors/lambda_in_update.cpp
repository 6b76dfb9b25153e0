// SPDX-License-Identifier: BSD-3-Clause
// only: g++ before 13
// expect: destroys such a temporary of a co_await twice: give the function

#include <tertulia/agent_session.hpp>

tertulia::task<> note(tertulia::agent_session<std::string> chat,
                      std::string text) {
  co_await chat.update([text](std::string& x) { x += text; });
}
