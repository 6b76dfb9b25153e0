// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/run_once.hpp>
#include <tertulia/json.hpp>
#include <tertulia/when.hpp>

#include <exception>
#include <thread>

namespace tertulia::detail {

namespace {

using json_talk = async_connection<json, json, json>;

task<> feed(json_talk& talk, std::vector<json> inputs) {
  for (auto& x : inputs) {
    // An action may end before it has read all inputs; its output or error then
    // reports the result. An input that the action does not accept throws
    // before that.
    const auto sent = co_await as_expected(talk.send(std::move(x)));
    if (!sent)
      break;
  }
  talk.close();
}

task<> listen(json_talk& talk, chunk_listener on_chunk) {
  do {
    while (auto chunk = co_await talk.next())
      if (on_chunk)
        on_chunk(*chunk);
  } while (!talk.finished());
}

} // namespace

json run_once(json_connection talk, const std::vector<json>& inputs,
              const chunk_listener& on_chunk) {
  // `send` waits for the body, and the body waits until its chunks are read, so
  // the two sides need one thread each.
  std::exception_ptr refused;
  std::jthread sender{[&] {
    try {
      for (const auto& x : inputs)
        talk.send(x);
      talk.close();
    } catch (const status_error& error) {
      // An action may end before it has read all inputs, and a cancel by this
      // function is the result of another error.
      if (error.code() != errc::failed_precondition
          && error.code() != errc::cancelled) {
        refused = std::current_exception();
        talk.cancel();
      }
    } catch (...) {
      refused = std::current_exception();
      talk.cancel();
    }
  }};
  json result;
  try {
    do {
      for (const auto& chunk : talk.responses())
        if (on_chunk)
          on_chunk(chunk);
    } while (!talk.finished());
    result = talk.output();
  } catch (...) {
    talk.cancel();
    sender.join();
    if (refused)
      std::rethrow_exception(refused);
    throw;
  }
  sender.join();
  return result;
}

task<json> run_once(task<json_talk> opening, std::vector<json> inputs,
                    chunk_listener on_chunk) {
  auto talk = co_await std::move(opening);
  co_await when_all(feed(talk, std::move(inputs)),
                    listen(talk, std::move(on_chunk)));
  co_return co_await talk.output();
}

} // namespace tertulia::detail
