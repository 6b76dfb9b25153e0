// SPDX-License-Identifier: BSD-3-Clause

// A client of a chat agent that is an actor: it continues a session by its id,
// receives text and snapshot ids, and sends its next line when the turn has
// ended.

#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/memory_store.hpp>

#include <caf/all.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "scripted_model.hpp"

using namespace std::chrono_literals;

namespace {

namespace ai = tertulia::ai;

using chunk_type = ai::stream_chunk<tertulia::nothing>;
using response_type = ai::agent_response<tertulia::nothing>;

// --(agent-actor-client-begin)--
class guest_state {
public:
  explicit guest_state(tertulia::chunk_sink::pointer self) : self_(self) {}

  tertulia::chunk_sink::behavior_type
  make_behavior(const tertulia::front_desk_actor& desk,
                tertulia::open_request open_message,
                std::vector<std::string> lines) {
    lines_ = std::move(lines);
    open_message.client = self_;
    self_->request(desk, 10s, std::move(open_message))
      .then(
        [this](const tertulia::open_result& x) {
          talk_ = x.connection;
          self_->monitor(talk_);
          credit_ = x.input_credit;
          speak();
        },
        [this](const caf::error& reason) { give_up(reason); });
    self_->set_down_handler(
      [this](const caf::down_msg& x) { give_up(x.reason); });
    return {
      [this](tertulia::chunk_batch& x) {
        const auto size = x.size;
        hear(x);
        self_->send(talk_, tertulia::chunk_credit{size}); // dealt with
        speak();
      },
      [this](tertulia::input_credit x) {
        credit_ += x.inputs;
        speak();
      },
      [this](tertulia::turn_end& x) {
        const auto size = x.last.size;
        hear(x.last);
        self_->send(talk_,
                    tertulia::chunk_credit{size + 1}); // it costs one, too
        my_turn_ = true;
        speak();
      },
      [this](tertulia::completion& x) {
        if (x.reason)
          return give_up(x.reason);
        const auto response = std::move(x.output).take<response_type>();
        std::cout << response.session_id.str() << " has "
                  << response.state.messages.size() << " messages\n";
        self_->quit();
      },
    };
  }

private:
  void hear(tertulia::chunk_batch& x) {
    credit_ += x.input_credit;
    for (const auto& item : std::move(x).take<chunk_type>())
      hear(item);
  }

  void hear(const chunk_type& item) {
    if (item.chunk)
      std::cout << item.chunk->text();
    if (item.snapshot_created)
      std::cout << " [snapshot " << item.snapshot_created.str().substr(0, 8)
                << "]\n";
  }

  void speak() {
    if (!my_turn_ || credit_ == 0)
      return;
    my_turn_ = false;
    if (next_ == lines_.size())
      return self_->send(talk_, caf::close_atom_v);
    --credit_;
    ai::conversation_input input{{ai::user_text(lines_[next_++])}};
    self_->send(talk_,
                tertulia::turn_input{tertulia::payload::of(std::move(input))});
  }

  void give_up(const caf::error& reason) {
    std::cout << "failed: " << tertulia::to_status(reason).message() << '\n';
    self_->quit();
  }

  tertulia::chunk_sink::pointer self_;
  tertulia::connection_actor talk_;
  std::uint32_t credit_ = 0;
  bool my_turn_ = true;
  std::vector<std::string> lines_;
  std::size_t next_ = 0;
};

tertulia::chunk_sink::behavior_type
guest(tertulia::chunk_sink::stateful_pointer<guest_state> self,
      const tertulia::front_desk_actor& desk, tertulia::open_request request,
      std::vector<std::string> lines) {
  return self->state.make_behavior(desk, std::move(request), std::move(lines));
}
// --(agent-actor-client-end)--

tertulia::task<> chat(tertulia::context ctx,
                      ai::chat_session<tertulia::nothing> sess,
                      tertulia::input<ai::conversation_input> in,
                      ai::responder<tertulia::nothing> out) {
  while (auto input = co_await in.next()) {
    co_await sess.add_messages(input->messages);
    auto answer = co_await example::model.generate(
      ctx, co_await sess.messages(),
      [&](auto chunk) { return out.send_chunk(std::move(chunk)); });
    co_await sess.add_messages(*answer.message);
    co_await out.end_turn();
  }
}

} // namespace

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  auto agent = ai::define_chat_agent(
    rt, "chatAgent", chat,
    tertulia::with_snapshot_store(tertulia::spawn_memory_store(system)),
    tertulia::with_snapshot_callback(tertulia::snapshot_always{}));

  using lines = std::vector<std::string>;
  for (const auto& said : {lines{"Tell me about C++.", "And coroutines?"},
                           lines{"What about actors?"}}) {
    auto client = system.spawn(
      guest, rt.front_desk(),
      agent.opening_for({}, tertulia::with_session_id("table seven")), said);
    caf::scoped_actor self{system};
    self->wait_for(client);
  }
}
