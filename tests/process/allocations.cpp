// SPDX-License-Identifier: BSD-3-Clause

// Prints the number of allocations while chunks are sent from a body to a
// client that is an actor: `allocations numbers 2 32` prints one line for each
// answer, with 2 and 32 chunks. Everything runs on one thread, one batch after
// the other, so the count is the same each time.

#include <tertulia/chunks.hpp>
#include <tertulia/runtime.hpp>

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace {

std::atomic<std::size_t> allocations = 0;

} // namespace

// Not inlined: otherwise g++ warns that `free` is called for memory of `new`.

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (auto* result = std::malloc(size == 0 ? 1 : size))
    return result;
  throw std::bad_alloc{};
}

[[gnu::noinline]] void operator delete(void* x) noexcept {
  std::free(x);
}

[[gnu::noinline]] void operator delete(void* x, std::size_t) noexcept {
  std::free(x);
}

namespace {

using namespace tertulia;

/// Twice the largest batch.
constexpr std::uint32_t window = 1'024;

/// Returns a number, which does not allocate, or a text, which allocates once
/// when it is made and must never be copied.
template <class T>
T make_chunk(int i) {
  if constexpr (std::is_same_v<T, int>)
    return i;
  else
    return T(64, static_cast<char>('a' + i % 26));
}

/// Answers each input with the requested number of chunks.
template <class T>
task<int> say(context, input<int> in, output<T> out) {
  while (auto count = co_await in.next())
    for (int i = 0; i < *count; ++i)
      co_await out.send(make_chunk<T>(i));
  co_return 0;
}

/// Progress of the client. Updates must not allocate either.
struct hearing {
  connection_actor connection;
  std::uint32_t chunks = 0;
};

template <class T>
void count_allocations(char** sizes) {
  config cfg;
  cfg.set("scheduler.policy", caf::atom("testing"));
  caf::actor_system system{cfg};
  auto& sched
    = dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
  std::optional<runtime> rt{std::in_place, system};
  auto flow = rt->define_bidi_flow("say", say<T>);
  hearing received;
  system.spawn<caf::hidden>(
    [&](chunk_sink::pointer self,
        open_request open_message) -> chunk_sink::behavior_type {
      open_message.client = self;
      self->request(rt->front_desk(), caf::infinite, std::move(open_message))
        .then(
          [&](const open_result& x) { received.connection = x.connection; });
      return {
        [&](chunk_batch& x) {
          auto values = std::move(x).template take<T>();
          received.chunks += static_cast<std::uint32_t>(values.size());
        },
        [](input_credit) {},
        [](turn_end) {},
        [self](const completion&) { self->quit(); },
      };
    },
    flow.opening_for(chunk_sink{}, with_chunk_window(window)));
  sched.run();
  const auto answer_with = [&](int size) {
    received.chunks = 0;
    const auto before = allocations.load();
    caf::anon_send(received.connection, turn_input{payload::of(size)});
    sched.run();
    const auto result = allocations.load() - before;
    caf::anon_send(received.connection, chunk_credit{received.chunks});
    sched.run();
    return result;
  };
  // Warm-up: some allocations happen only the first time.
  answer_with(static_cast<int>(window));
  for (; *sizes != nullptr; ++sizes) {
    const auto result = answer_with(std::stoi(*sizes));
    std::cout << received.chunks << ' ' << result << std::endl;
  }
  caf::anon_send(received.connection, caf::close_atom_v);
  sched.run();
  received.connection = nullptr;
  rt->stop();
  sched.run();
  rt.reset();
  sched.run();
}

} // namespace

int main(int, char** argv) {
  if (std::string_view{argv[1]} == "numbers")
    count_allocations<int>(argv + 2);
  else
    count_allocations<std::string>(argv + 2);
}
