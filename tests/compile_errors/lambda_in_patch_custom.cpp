// SPDX-License-Identifier: BSD-3-Clause
// only: g++ before 13
// expect: destroys such a temporary of a co_await twice: give the function

#include <tertulia/ai/chat_session.hpp>

tertulia::task<> note(tertulia::ai::chat_session<std::string> chat,
                      std::string text) {
  co_await chat.patch_custom([text](std::string& x) { x += text; });
}
