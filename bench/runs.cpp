// SPDX-License-Identifier: BSD-3-Clause

// Measures the clients of a kept run: the time per chunk of a client that
// attaches and hears a thousand chunks from the log, and the time per chunk and
// listener when a hundred listeners hear what the talker hears. Baseline: a raw
// CAF actor sends a message per chunk, to one client or to a hundred.

#include <tertulia/actor_client.hpp>
#include <tertulia/runtime.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "row.hpp"
#include "sample.hpp"
#include "stage.hpp"

namespace tertulia::bench {

namespace {

using text = std::string;
using counted_flow = bidi_flow<nothing, std::uint64_t, nothing, text>;

constexpr std::uint64_t chunks_of_sample = 1'000;

constexpr std::size_t listeners = 100;

/// CAF keeps an actor until the time-outs of its requests are over, and the end
/// of a row waits for all actors.
constexpr auto opening = std::chrono::seconds{2};

/// Answers every number with that many chunks, in one turn.
task<> send_counted(context, input<std::uint64_t> in, output<text> out) {
  const auto value = sample<text>();
  while (const auto count = co_await in.next()) {
    for (std::uint64_t i = 0; i < *count; ++i)
      co_await out.send(value);
    co_await out.end_turn();
  }
}

// -- clients of a kept run ----------------------------------------------------

class reader : public actor_client<counted_flow> {
public:
  using actor_client::actor_client;

  void begin(stage& bench_stage, counted_flow flow, cursor from) {
    line_ = &bench_stage.line;
    flow_ = std::move(flow);
    from_ = std::move(from);
  }

  /// Starts a sample of that many chunks.
  virtual void start(std::uint64_t chunks) = 0;

protected:
  void attach() {
    flow_->open(*this, with_cursor(from_), as_listener{},
                with_chunk_window(4'096), with_open_timeout(opening));
  }

  void arrive() {
    line_->arrive();
  }

  void on_error(const status_error& x) override {
    line_->fail(x.what());
  }

  std::uint64_t left_ = 0;

private:
  finish_line* line_ = nullptr;
  std::optional<counted_flow> flow_;
  cursor from_;
};

/// Attaches for each thousand chunks.
class returning_reader : public reader {
public:
  using reader::reader;

  void start(std::uint64_t chunks) override {
    left_ = chunks;
    attach();
  }

private:
  void on_chunk(text&) override {
    --left_;
  }

  void on_turn_end() override {
    detach();
    if (left_ == 0)
      arrive();
    else
      attach();
  }
};

/// Attaches once, when it is started for no chunk.
class staying_reader : public reader {
public:
  using reader::reader;

  void start(std::uint64_t chunks) override {
    left_ = chunks;
    if (chunks == 0)
      attach();
  }

private:
  void on_open(const open_result&) override {
    arrive();
  }

  void on_chunk(text&) override {
    if (--left_ == 0)
      arrive();
  }
};

template <class Reader>
caf::actor
spawn_reader(stage& bench_stage, const counted_flow& flow, const cursor& from) {
  // Copies: the actor begins later.
  return bench_stage.system.spawn(
    [=, &bench_stage](caf::stateful_actor<Reader>* self) -> caf::behavior {
      self->state.begin(bench_stage, flow, from);
      return self->state.handlers().or_else(
        [self](caf::ping_atom, std::uint64_t chunks) {
          self->state.start(chunks);
        });
    });
}

// -- raw CAF ------------------------------------------------------------------

caf::behavior raw_reader(caf::event_based_actor*, finish_line* line) {
  return {[line, left = chunks_of_sample](const text&) mutable {
    if (--left > 0)
      return;
    left = chunks_of_sample;
    line->arrive();
  }};
}

caf::behavior raw_pour(caf::event_based_actor* self,
                       std::vector<caf::actor> clients) {
  return {[self, clients = std::move(clients)](caf::get_atom) {
    const auto value = sample<text>();
    for (std::uint64_t i = 0; i < chunks_of_sample; ++i)
      for (const auto& x : clients)
        self->send(x, value);
  }};
}

/// Common base: a kept run with one turn in its log, and a raw counterpart.
class runs_question : public question {
public:
  double baseline(std::size_t operations) final {
    const auto turns = operations / (chunks_of_sample * raw_readers_.size());
    double result = 0;
    for (std::size_t i = 0; i < turns; ++i) {
      stage_.line.start(raw_readers_.size());
      caf::anon_send(raw_pour_, caf::get_atom_v);
      result += stage_.line.wait();
    }
    return result / static_cast<double>(operations);
  }

protected:
  explicit runs_question(std::size_t readers)
    : flow_(stage_.rt.define_bidi_flow("counted", send_counted)),
      talk_(flow_.stream_bidi(with_keep(), with_chunk_window(4'096))) {
    turn();
    for (std::size_t i = 0; i < readers; ++i)
      raw_readers_.push_back(stage_.system.spawn(raw_reader, &stage_.line));
    raw_pour_ = stage_.system.spawn(raw_pour, raw_readers_);
  }

  /// Lets the talker hear one turn.
  void turn() {
    talk_.send(chunks_of_sample);
    for (const auto& chunk : talk_.responses())
      if (chunk != sample<text>())
        throw std::runtime_error{"a chunk is wrong"};
  }

  stage stage_;
  counted_flow flow_;
  connection<std::uint64_t, nothing, text> talk_;
  std::vector<caf::actor> readers_;

private:
  std::vector<caf::actor> raw_readers_;
  caf::actor raw_pour_;
};

class attach_replay final : public runs_question {
public:
  attach_replay() : runs_question(1) {
    readers_.push_back(spawn_reader<returning_reader>(
      stage_, flow_, cursor{talk_.position().run, 0}));
  }

  double ours(std::size_t operations) override {
    return time_each(stage_, readers_, operations);
  }
};

class fan_out final : public runs_question {
public:
  fan_out() : runs_question(listeners) {
    for (std::size_t i = 0; i < listeners; ++i)
      readers_.push_back(
        spawn_reader<staying_reader>(stage_, flow_, talk_.position()));
    time_each(stage_, readers_, 0);
  }

  double ours(std::size_t operations) override {
    const auto turns = operations / (chunks_of_sample * listeners);
    stage_.line.start(listeners);
    for (const auto& x : readers_)
      caf::anon_send(x, caf::ping_atom_v, turns * chunks_of_sample);
    for (std::size_t i = 0; i < turns; ++i)
      turn();
    return stage_.line.wait() / static_cast<double>(operations);
  }
};

const enrol rows_of_runs[] = {
  enrol{{.name = "attach_replay",
         .operations = 200'000,
         .smoke_operations = 2'000,
         .make = make_question<attach_replay>}},
  enrol{{.name = "fan_out",
         .operations = 500'000,
         .smoke_operations = 100'000,
         .make = make_question<fan_out>}},
};

} // namespace

} // namespace tertulia::bench
