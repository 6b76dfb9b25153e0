// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/client_recorder.hpp>
#include <tertulia/status.hpp>
#include <tertulia/testing/run_until_idle.hpp>

#include <caf/actor_cast.hpp>
#include <caf/exit_reason.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <utility>

namespace tertulia::detail {

namespace {

chunk_sink::behavior_type
record(chunk_sink::pointer self,
       const std::shared_ptr<recorded_messages>& received,
       const front_desk_actor& desk, open_request& request) {
  request.client = self;
  // No time-out: the time of the test stands still, and the desk answers
  // always.
  self->request(desk, caf::infinite, std::move(request))
    .then(
      [=](const open_result& x) {
        received->open = x;
        received->next = x.attached.next;
        received->inputs = x.attached.inputs;
        received->input_credit += x.input_credit;
      },
      [=](const caf::error& reason) { received->refused = reason; });
  const auto read = [=](chunk_batch& x) {
    if (x.size > 0)
      received->batches.push_back(x.size);
    if (x.first != received->next)
      ++received->gaps;
    received->next = x.first + x.size;
    received->input_credit += x.input_credit;
    received->add(x);
  };
  return {
    read,
    [=](input_credit x) {
      received->input_credit += x.inputs;
      ++received->credit_messages;
    },
    [=](turn_end& x) {
      read(x.last);
      ++received->next;
      x.last = {};
      received->last_turn = std::move(x);
      ++received->turns;
    },
    [=](completion& x) {
      received->end = std::move(x);
      ++received->ends;
      if (const auto& at = received->open; at && at->attached.run)
        caf::anon_send(caf::actor_cast<run_actor>(at->connection),
                       run_request{run_verb::confirm, at->attached.reader});
    },
  };
}

} // namespace

client_recorder::client_recorder(caf::actor_system& system,
                                 const front_desk_actor& desk,
                                 open_request request,
                                 std::shared_ptr<recorded_messages> log)
  : system_(&system), log_(std::move(log)) {
  sink_ = system.spawn(
    [log = log_, desk, request = std::move(request)](
      chunk_sink::pointer self) mutable -> chunk_sink::behavior_type {
      return record(self, log, desk, request);
    });
}

client_recorder::~client_recorder() {
  caf::anon_send_exit(sink_, caf::exit_reason::user_shutdown);
}

errc client_recorder::code() const {
  return code_of(log_->end.value().reason);
}

status_error client_recorder::error() const {
  const auto& reason = log_->end.value().reason;
  return reason ? to_status(reason) : status_error{errc::ok, ""};
}

connection_actor client_recorder::connection() const {
  return log_->open.value().connection;
}

void client_recorder::grant(std::uint32_t chunks) {
  caf::anon_send(connection(), chunk_credit{chunks, reader()});
  run_all();
}

void client_recorder::post_close() {
  if (is_kept())
    caf::anon_send(run(), run_request{run_verb::close, reader()});
  else
    caf::anon_send(connection(), caf::close_atom_v);
}

void client_recorder::close() {
  post_close();
  run_all();
}

void client_recorder::post_cancel() {
  if (is_kept())
    caf::anon_send(run(), run_request{run_verb::cancel, reader()});
  else
    caf::anon_send(connection(), cancel_atom_v);
}

void client_recorder::cancel() {
  post_cancel();
  run_all();
}

void client_recorder::post_detach() {
  caf::anon_send(run(), run_request{run_verb::leave, reader()});
}

cursor client_recorder::detach() {
  post_detach();
  run_all();
  return position();
}

cursor client_recorder::position() const {
  return {log_->open.value().attached.run, log_->next};
}

void client_recorder::post_death() {
  caf::anon_send_exit(sink_, caf::exit_reason::kill);
}

void client_recorder::die() {
  post_death();
  run_all();
}

void client_recorder::post_payload(payload value, std::uint32_t credit) {
  --log_->input_credit;
  turn_input message{std::move(value), credit};
  if (is_kept()) {
    message.number = log_->inputs++;
    message.reader = reader();
  }
  caf::anon_send(connection(), std::move(message));
}

void client_recorder::run_all() {
  using scheduler = caf::scheduler::test_coordinator;
  testing::run_until_idle(dynamic_cast<scheduler&>(system_->scheduler()));
}

bool client_recorder::is_kept() const {
  return !log_->open.value().attached.run.empty();
}

std::uint32_t client_recorder::reader() const {
  return log_->open.value().attached.reader;
}

run_actor client_recorder::run() const {
  return caf::actor_cast<run_actor>(connection());
}

} // namespace tertulia::detail
