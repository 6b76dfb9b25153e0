// SPDX-License-Identifier: BSD-3-Clause

// Measures the duration of a turn that stores nothing: one input, one chunk,
// the end of the turn. Also measures a whole conversation of one turn, and the
// cost of a turn that is traced. Baseline: a request and its response in raw
// CAF; for the traced turn, the same turn without a listener.

#include <tertulia/span_recorder.hpp>

#include <memory>

#include "conversation.hpp"
#include "raw_echo.hpp"
#include "row.hpp"

namespace tertulia::bench {

namespace {

enum class talk_kind { agent, flow };

template <class Client, talk_kind Kind>
class trivial_turn : public client_question {
public:
  trivial_turn() {
    add_client<Client>(opening());
    add_raw_client<raw_echo_client<std::string>>();
    if constexpr (std::is_same_v<Client, turn_client>)
      connect();
  }

private:
  opener opening() {
    if constexpr (Kind == talk_kind::agent)
      return opener_of(ai::define_chat_agent(stage_.rt, "chat", trivial_agent));
    else
      return opener_of(
        ai::define_session_flow(stage_.rt, "chat", trivial_flow));
  }
};

class traced_turn final : public trivial_turn<turn_client, talk_kind::flow> {
public:
  double baseline(std::size_t operations) override {
    return untraced_.ours(operations);
  }

private:
  tracer::subscription listening_
    = stage_.rt.traces().listen(std::make_shared<span_recorder>());
  trivial_turn<turn_client, talk_kind::flow> untraced_;
};

const enrol rows_of_turn[] = {
  enrol{{.name = "turn_agent",
         .promise = target::at_most_times_baseline(3),
         .operations = 20'000,
         .make = make_question<trivial_turn<turn_client, talk_kind::agent>>}},
  enrol{{.name = "turn",
         .promise = target::at_most_times_baseline(3),
         .operations = 20'000,
         .make = make_question<trivial_turn<turn_client, talk_kind::flow>>}},
  enrol{{.name = "turn_traced",
         .promise = target::at_most_times_baseline(1.5),
         .operations = 20'000,
         .make = make_question<traced_turn>}},
  enrol{{.name = "open_turn_close_agent",
         .promise = target::at_most_times_baseline(12),
         .operations = 3'000,
         .make = make_question<trivial_turn<brief_client, talk_kind::agent>>}},
  enrol{{.name = "open_turn_close",
         .promise = target::at_most_times_baseline(12),
         .operations = 3'000,
         .make = make_question<trivial_turn<brief_client, talk_kind::flow>>}},
};

} // namespace

} // namespace tertulia::bench
