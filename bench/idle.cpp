// SPDX-License-Identifier: BSD-3-Clause

// How much memory does an open connection take that waits for its next input:
// one to a bidi flow, and one to a session flow?
// All of them have one sink, which keeps a handle to each; a second row gives
// each a blocking client of its own. Raw CAF: an actor that has heard one
// message. What a store keeps of a conversation stays when that is closed, so
// it is told apart: as what is left.

#include <tertulia/memory_store.hpp>

#include <caf/actor_addr.hpp>
#include <caf/actor_cast.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client.hpp"
#include "conversation.hpp"
#include "memory.hpp"
#include "row.hpp"
#include "sample.hpp"
#include "stage.hpp"

namespace tertulia::bench {

namespace {

using text = std::string;
using echo_flow = bidi_flow<nothing, text, nothing, text>;

/// How many conversations are being opened at a time: enough to keep all
/// threads busy, and few enough to add nothing to what is measured.
constexpr std::uint64_t in_a_row = 32;

/// What the main thread and the queues of the scheduler keep or give back.
constexpr double noise_bytes = 64 * 1024;

/// Opens so many conversations and has one round trip with each; closes all.
using crowd_actor = chunk_sink::extend<
  caf::replies_to<caf::ping_atom, std::uint64_t>::with<void>,
  caf::replies_to<caf::close_atom>::with<void>>;

enum class answer_end { chunk, turn };

class crowd_state {
public:
  static inline const char* name = "bench.crowd";

  explicit crowd_state(crowd_actor::pointer self) : self_(self) {}

  /// @param end_of_trip what the answer to the first input ends with.
  crowd_actor::behavior_type run(stage& at, opener opening, payload first,
                                 answer_end end_of_trip) {
    line_ = &at.line;
    desk_ = at.rt.front_desk();
    opening_ = std::move(opening);
    first_ = std::move(first);
    return {
      [=, this](chunk_batch&) {
        if (end_of_trip == answer_end::chunk)
          arrive();
      },
      [](input_credit) {},
      [=, this](turn_end) {
        if (end_of_trip == answer_end::turn)
          arrive();
      },
      [this](finished& x) {
        if (x.reason)
          line_->fail(self_->system().render(x.reason));
        else
          line_->arrive();
      },
      [this](caf::ping_atom, std::uint64_t count) {
        to_open_ = count;
        connections_.reserve(count);
        for (std::uint64_t i = 0; i < in_a_row; ++i)
          open_next();
      },
      [this](caf::close_atom) {
        for (const auto& x : std::exchange(connections_, {}))
          self_->send(x, caf::close_atom_v);
      },
    };
  }

private:
  void arrive() {
    line_->arrive();
    open_next();
  }

  void open_next() {
    if (to_open_ == 0)
      return;
    --to_open_;
    self_->request(desk_, caf::infinite, opening_(chunk_sink{self_}))
      .then(
        [this](opened& x) {
          self_->send(x.connection, turn_input{first_});
          connections_.push_back(std::move(x.connection));
        },
        [this](const caf::error& x) {
          line_->fail(self_->system().render(x));
        });
  }

  crowd_actor::pointer self_;
  finish_line* line_ = nullptr;
  front_desk_actor desk_;
  opener opening_;
  payload first_; // the input of each
  std::vector<connection_actor> connections_;
  std::uint64_t to_open_ = 0;
};

caf::behavior idle(caf::event_based_actor*, finish_line* line) {
  return {[line](const text&) { line->arrive(); }};
}

/// Opens and closes many at once, and asks how much memory that takes.
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
    // Their memory is free a moment after they have said their last word.
    const auto left = [&] { return (allocated_bytes() - allocated) / count; };
    wait_until([&] { return left() < 1 + noise_bytes / count; });
    left_ = left();
    return open - left_;
  }

  double baseline(std::size_t operations) final {
    const auto running = at_.system.registry().running();
    const auto allocated = allocated_bytes();
    std::vector<caf::actor> actors;
    actors.reserve(operations);
    at_.line.start(operations);
    for (std::size_t i = 0; i < operations; ++i) {
      actors.push_back(at_.system.spawn(idle, &at_.line));
      caf::anon_send(actors.back(), sample<text>());
    }
    at_.line.wait();
    const auto result
      = (allocated_bytes() - allocated) / static_cast<double>(operations);
    actors.clear();
    wait_until([&] { return at_.system.registry().running() <= running; });
    return result;
  }

  std::vector<fact> facts() const final {
    return {{"resident", "bytes", resident_}, {"left", "bytes", left_}};
  }

protected:
  idle_question() = default;

  virtual void open_all(std::size_t count) = 0;
  virtual void close_all(std::size_t count) = 0;

  stage at_;

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
  void begin(opener opening, payload first, answer_end end_of_trip) {
    crowd_ = at_.system.spawn(
      [=, this](crowd_actor::stateful_pointer<crowd_state> self) {
        return self->state.run(at_, opening, first, end_of_trip);
      });
  }

private:
  void open_all(std::size_t count) override {
    at_.line.start(count);
    caf::anon_send(crowd_, caf::ping_atom_v, std::uint64_t{count});
    at_.line.wait();
  }

  void close_all(std::size_t count) override {
    at_.line.start(count);
    caf::anon_send(crowd_, caf::close_atom_v);
    at_.line.wait();
  }

  crowd_actor crowd_;
};

class idle_bidi final : public with_one_sink {
public:
  idle_bidi() {
    begin(opener_of(at_.rt.define_bidi_flow("echo", echo<text>)),
          payload::of(sample<text>()), answer_end::chunk);
  }
};

class idle_flow final : public with_one_sink {
public:
  idle_flow() {
    begin(opener_of(ai::define_session_flow(
            at_.rt, "chat", chat_flow,
            with_snapshot_store(spawn_memory_store(at_.system)))),
          one_message(), answer_end::turn);
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

  const echo_flow flow_ = at_.rt.define_bidi_flow("echo", echo<text>);
  std::vector<connection<text, nothing, text>> talks_;
};

const enrol rows_of_idle[] = {
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
