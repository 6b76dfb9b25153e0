// SPDX-License-Identifier: BSD-3-Clause

// A client that is an actor, so that no thread blocks. It sends several words,
// each as soon as it has credit for an input.

#include <tertulia/runtime.hpp>

#include <caf/all.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

// --(actor-client-begin)--
class reader_state {
public:
  explicit reader_state(tertulia::chunk_sink::pointer self) : self_(self) {}

  tertulia::chunk_sink::behavior_type
  make_behavior(const tertulia::front_desk_actor& desk,
                tertulia::open_request open_message,
                std::vector<std::string> words) {
    words_ = std::move(words);
    open_message.client = self_;
    self_->request(desk, 10s, std::move(open_message))
      .then(
        [this](const tertulia::open_result& x) {
          talk_ = x.connection;
          self_->monitor(talk_);
          credit_ = x.input_credit;
          go_on();
        },
        [this](const caf::error& reason) { give_up(reason); });
    self_->set_down_handler(
      [this](const caf::down_msg& x) { give_up(x.reason); });
    return {
      [this](tertulia::chunk_batch& x) {
        const auto size = x.size;
        hear(x);
        self_->send(talk_, tertulia::chunk_credit{size}); // dealt with
        go_on();
      },
      [this](tertulia::input_credit x) {
        credit_ += x.inputs;
        go_on();
      },
      [this](tertulia::turn_end& x) {
        const auto size = x.last.size;
        hear(x.last);
        self_->send(talk_,
                    tertulia::chunk_credit{size + 1}); // it costs one, too
        go_on();
      },
      [this](tertulia::completion& x) {
        if (x.reason)
          return give_up(x.reason);
        std::cout << std::move(x.output).take<std::string>() << '\n';
        self_->quit();
      },
    };
  }

private:
  void hear(tertulia::chunk_batch& x) {
    credit_ += x.input_credit;
    for (const auto& word : std::move(x).take<std::string>())
      std::cout << word << '\n';
  }

  void go_on() {
    for (; credit_ > 0 && next_ < words_.size(); --credit_)
      self_->send(talk_,
                  tertulia::turn_input{tertulia::payload::of(words_[next_++])});
    if (next_ == words_.size() && !std::exchange(closed_, true))
      self_->send(talk_, caf::close_atom_v);
  }

  void give_up(const caf::error& reason) {
    std::cout << "failed: " << tertulia::to_status(reason).message() << '\n';
    self_->quit();
  }

  tertulia::chunk_sink::pointer self_;
  tertulia::connection_actor talk_;
  std::uint32_t credit_ = 0;
  std::vector<std::string> words_;
  std::size_t next_ = 0;
  bool closed_ = false;
};

tertulia::chunk_sink::behavior_type
reader(tertulia::chunk_sink::stateful_pointer<reader_state> self,
       const tertulia::front_desk_actor& desk, tertulia::open_request request,
       std::vector<std::string> words) {
  return self->state.make_behavior(desk, std::move(request), std::move(words));
}
// --(actor-client-end)--

tertulia::task<std::string> shout(tertulia::context,
                                  tertulia::input<std::string> in,
                                  tertulia::output<std::string> out) {
  int count = 0;
  for (; auto word = co_await in.next(); ++count)
    co_await out.send(*word + "!");
  co_return std::to_string(count) + " words";
}

} // namespace

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  auto flow = rt.define_bidi_flow("shout", shout);

  auto client
    = system.spawn(reader, rt.front_desk(), flow.opening_for({}),
                   std::vector<std::string>{"hello", "brave", "new", "world"});
  caf::scoped_actor self{system};
  self->wait_for(client);
}
