// SPDX-License-Identifier: BSD-3-Clause

// Measures the duration of a turn that ends with a snapshot in the memory
// store, and whether it depends on the length of the conversation. Each turn
// adds two messages of 200 bytes. Baseline: a request and its response in raw
// CAF; in the rows `_growth` the same turn after ten messages.

#include <tertulia/memory_store.hpp>

#include "conversation.hpp"
#include "raw_echo.hpp"
#include "row.hpp"

namespace tertulia::bench {

namespace {

enum class kind { agent, flow };

/// Takes turns on conversations that start with a history.
template <kind Kind>
class snapshot_turns : public client_question {
protected:
  client_actor client_with(std::size_t messages) {
    return spawn_client<visiting_client>(
      stage_, [open = flow_, state = history(messages)](chunk_sink client) {
        return open(std::move(client), state);
      });
  }

private:
  using opener_type = std::function<open_request(
    chunk_sink, const ai::conversation_state<nothing>&)>;

  opener_type define_flow() {
    const auto store = spawn_memory_store(stage_.system);
    if constexpr (Kind == kind::agent)
      return opener_with(ai::define_chat_agent(
        stage_.rt, "chat", chat_agent, with_client_states{},
        with_snapshot_store(store),
        with_snapshot_callback(snapshot_on{snapshot_event::turn_end})));
    else
      return opener_with(ai::define_session_flow(stage_.rt, "chat", chat_flow,
                                                 with_snapshot_store(store),
                                                 with_client_states{}));
  }

  template <class Flow>
  static opener_type opener_with(Flow flow) {
    return
      [flow](chunk_sink client, const ai::conversation_state<nothing>& state) {
        return flow.opening_for(std::move(client), ai::with_state{state});
      };
  }

  opener_type flow_ = define_flow();
};

template <kind Kind, std::size_t Messages>
class snapshot_turn final : public snapshot_turns<Kind> {
public:
  snapshot_turn() {
    this->clients_.push_back(this->client_with(Messages));
    this->template add_raw_client<raw_echo_client<std::string>>();
  }
};

template <kind Kind>
class snapshot_growth final : public snapshot_turns<Kind> {
public:
  snapshot_growth() {
    this->clients_.push_back(this->client_with(10'000));
  }

  double baseline(std::size_t operations) override {
    return time_each(this->stage_, short_, operations);
  }

private:
  std::vector<client_actor> short_{this->client_with(10)};
};

template <kind Kind, std::size_t Messages>
enrol turn_row(std::string name) {
  return enrol{{.name = std::move(name),
                .promise = target::at_most_times_baseline(10),
                .operations = 500,
                .smoke_operations = 20,
                .make = make_question<snapshot_turn<Kind, Messages>>}};
}

template <kind Kind>
enrol growth_row(std::string name) {
  return enrol{{.name = std::move(name),
                .promise = target::at_most_times_baseline(1.3),
                .operations = 500,
                .smoke_operations = 20,
                .samples = 41,
                .make = make_question<snapshot_growth<Kind>>}};
}

const enrol rows_of_snapshot_turn[] = {
  turn_row<kind::agent, 10>("turn_snapshot_agent_10"),
  turn_row<kind::agent, 100>("turn_snapshot_agent_100"),
  turn_row<kind::agent, 1'000>("turn_snapshot_agent_1000"),
  turn_row<kind::agent, 10'000>("turn_snapshot_agent_10000"),
  turn_row<kind::flow, 10>("turn_snapshot_10"),
  turn_row<kind::flow, 100>("turn_snapshot_100"),
  turn_row<kind::flow, 1'000>("turn_snapshot_1000"),
  turn_row<kind::flow, 10'000>("turn_snapshot_10000"),
  growth_row<kind::agent>("turn_snapshot_agent_growth"),
  growth_row<kind::flow>("turn_snapshot_growth"),
};

} // namespace

} // namespace tertulia::bench
