// SPDX-License-Identifier: BSD-3-Clause

// Measures the memory of an open connection that waits for its next input, to a
// bidi flow and to a session flow. All connections have one sink, which keeps a
// handle to each; a second row gives each connection a blocking client of its
// own. Baseline: a raw CAF actor that has received one message. Data that a
// store keeps of a closed conversation is reported separately, as memory that
// is left.

#include <tertulia/memory_store.hpp>

#include <caf/actor_addr.hpp>
#include <caf/actor_cast.hpp>
#include <caf/event_based_actor.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client.hpp"
#include "conversation.hpp"
#include "crowd.hpp"
#include "memory.hpp"
#include "row.hpp"
#include "sample.hpp"
#include "stage.hpp"

namespace tertulia::bench {

namespace {

using text = std::string;
using echo_flow = bidi_flow<nothing, text, nothing, text>;

/// Number of conversations that are opened concurrently: enough to keep all
/// threads busy, and few enough not to affect the result.
constexpr std::uint64_t in_a_row = 32;

/// Memory that the main thread and the queues of the scheduler keep or release.
constexpr double noise_bytes = 64 * 1024;

/// Opens the next conversation when one has finished its round trip, which ends
/// with a chunk.
class crowd_of_flows : public crowd_state {
public:
  using crowd_state::crowd_state;

private:
  void on_chunks(chunk_batch&) override {
    arrive();
    open_next();
  }
};

/// Opens the next conversation when one has finished its first turn.
class crowd_of_sessions : public crowd_state {
public:
  using crowd_state::crowd_state;

private:
  void on_turn_end() override {
    arrive();
    open_next();
  }
};

caf::behavior idle(caf::event_based_actor*, finish_line* line) {
  return {[line](const text&) { line->arrive(); }};
}

/// Opens and closes many connections at once and measures their memory.
class idle_question : public question {
public:
  double ours(std::size_t operations) final {
    const auto count = static_cast<double>(operations);
    trim_memory();
    const auto allocated = allocated_bytes();
    const auto resident = resident_bytes();
    open_all(operations);
    const auto open = (allocated_bytes() - allocated) / count;
    resident_ = std::max(resident_, (resident_bytes() - resident) / count);
    close_all(operations);
    // Memory is released shortly after the completion message.
    const auto left = [&] { return (allocated_bytes() - allocated) / count; };
    wait_until([&] { return left() < 1 + noise_bytes / count; });
    left_ = left();
    return open - left_;
  }

  double baseline(std::size_t operations) override {
    const auto running = stage_.system.registry().running();
    const auto allocated = allocated_bytes();
    std::vector<caf::actor> actors;
    actors.reserve(operations);
    stage_.line.start(operations);
    for (std::size_t i = 0; i < operations; ++i) {
      actors.push_back(stage_.system.spawn(idle, &stage_.line));
      caf::anon_send(actors.back(), sample<text>());
    }
    stage_.line.wait();
    const auto result
      = (allocated_bytes() - allocated) / static_cast<double>(operations);
    actors.clear();
    wait_until([&] { return stage_.system.registry().running() <= running; });
    return result;
  }

  std::vector<fact> facts() const final {
    return {{"resident", "bytes", resident_}, {"left", "bytes", left_}};
  }

protected:
  idle_question() = default;

  virtual void open_all(std::size_t count) = 0;
  virtual void close_all(std::size_t count) = 0;

  stage stage_;

private:
  template <class Predicate>
  static void wait_until(Predicate done) {
    for (int i = 0; i < 200 && !done(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }

  double resident_ = 0;
  double left_ = 0;
};

class with_one_sink : public idle_question {
protected:
  template <class Crowd>
  void begin(opener opening, payload first) {
    crowd_ = spawn_crowd<Crowd>(stage_, std::move(opening), std::move(first),
                                in_a_row);
  }

private:
  void open_all(std::size_t count) override {
    stage_.line.start(count);
    caf::anon_send(crowd_, caf::ping_atom_v, std::uint64_t{count});
    stage_.line.wait();
  }

  void close_all(std::size_t count) override {
    stage_.line.start(count);
    caf::anon_send(crowd_, caf::close_atom_v);
    stage_.line.wait();
  }

  crowd_actor crowd_;
};

class idle_bidi final : public with_one_sink {
public:
  idle_bidi() {
    begin<crowd_of_flows>(
      opener_of(stage_.rt.define_bidi_flow("echo", echo<text>)),
      payload::of(sample<text>()));
  }
};

class idle_flow final : public with_one_sink {
public:
  idle_flow() {
    begin<crowd_of_sessions>(
      opener_of(ai::define_session_flow(
        stage_.rt, "chat", chat_flow,
        with_snapshot_store(spawn_memory_store(stage_.system)))),
      one_message());
  }
};

class with_blocking_clients final : public idle_question {
private:
  void open_all(std::size_t count) override {
    talks_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      auto& talk = talks_.emplace_back(flow_.stream_bidi());
      talk.send(sample<text>());
      if (*talk.responses().begin() != sample<text>())
        throw std::runtime_error{"an echo is wrong"};
    }
  }

  void close_all(std::size_t) override {
    for (auto& talk : talks_)
      talk.close();
    for (auto& talk : talks_)
      talk.output();
    talks_.clear();
  }

  const echo_flow flow_ = stage_.rt.define_bidi_flow("echo", echo<text>);
  std::vector<connection<text, nothing, text>> talks_;
};

/// Runs that go on without a client, with an answer in their logs.
class detached_runs final : public idle_question {
private:
  void open_all(std::size_t count) override {
    places_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      auto talk = flow_.stream_bidi(with_keep());
      talk.send(sample<text>());
      if (*talk.responses().begin() != sample<text>())
        throw std::runtime_error{"an echo is wrong"};
      places_.push_back(talk.detach());
    }
  }

  void close_all(std::size_t) override {
    for (const auto& place : std::exchange(places_, {})) {
      auto talk = flow_.stream_bidi(with_cursor(place));
      talk.close();
      talk.output();
    }
  }

  const echo_flow flow_ = stage_.rt.define_bidi_flow("echo", echo<text>);
  std::vector<cursor> places_;
};

/// Runs without a client whose logs are full: of turns that are over, or of one
/// turn under way. Baseline: the bound of the log.
template <bool InTurn>
class full_logs final : public idle_question {
  static constexpr std::uint32_t turns = InTurn ? 1 : 4;
  static constexpr std::uint32_t chunks_per_turn = InTurn ? 6'000 : 200;

public:
  double baseline(std::size_t) override {
    const runtime_options options;
    constexpr std::size_t last_turn = std::size_t{chunks_per_turn} * 1'024;
    return static_cast<double>(InTurn ? options.max_turn_log
                                      : options.max_run_log + last_turn);
  }

private:
  static auto writer(finish_line* line) {
    return [line](context, input<int> in, output<text> out) -> task<int> {
      while (const auto count = co_await in.next()) {
        for (int i = 0; i < *count; ++i)
          co_await out.send(text(1024, 'x'));
        if (!InTurn)
          co_await out.end_turn();
        line->arrive();
      }
      co_return 0;
    };
  }

  void open_all(std::size_t count) override {
    stage_.line.start(count * turns);
    for (std::size_t i = 0; i < count; ++i) {
      auto talk = flow_.stream_bidi(with_keep(), with_input_window(turns));
      for (std::uint32_t turn = 0; turn < turns; ++turn)
        talk.send(static_cast<int>(chunks_per_turn));
      runs_.push_back(talk.detach().run);
    }
    stage_.line.wait();
  }

  void close_all(std::size_t) override {
    // Who has heard the end lets go of the run.
    const auto end = turns * (chunks_per_turn + (InTurn ? 0 : 1));
    for (const auto& run : std::exchange(runs_, {})) {
      auto talk = flow_.stream_bidi(with_cursor({run, end}));
      talk.close();
      talk.output();
    }
  }

  const bidi_flow<nothing, int, int, text> flow_
    = stage_.rt.define_bidi_flow("writer", writer(&stage_.line));
  std::vector<run_id> runs_;
};

const enrol rows_of_idle[] = {
  enrol{{.name = "detached_run",
         .unit = "bytes",
         .operations = 10'000,
         .samples = 3,
         .make = make_question<detached_runs>}},
  enrol{{.name = "full_log",
         .unit = "bytes",
         .operations = 200,
         .smoke_operations = 20,
         .samples = 3,
         .make = make_question<full_logs<false>>}},
  enrol{{.name = "full_turn_log",
         .unit = "bytes",
         .operations = 20,
         .smoke_operations = 2,
         .samples = 3,
         .make = make_question<full_logs<true>>}},
  enrol{{.name = "idle_bidi",
         .unit = "bytes",
         .promise = target::at_most(4096),
         .operations = 20'000,
         .samples = 5,
         .make = make_question<idle_bidi>}},
  enrol{{.name = "idle_conversation",
         .unit = "bytes",
         .promise = target::at_most(8192),
         .operations = 5'000,
         .samples = 5,
         .make = make_question<idle_flow>}},
  enrol{{.name = "idle_bidi_blocking",
         .unit = "bytes",
         .operations = 5'000,
         .samples = 3,
         .make = make_question<with_blocking_clients>}},
};

} // namespace

} // namespace tertulia::bench
