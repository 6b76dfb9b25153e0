// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/contract_store.hpp>
#include <tertulia/protocol.hpp>

#include <caf/actor_cast.hpp>
#include <caf/atom.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <utility>

namespace tertulia::detail {

contract_store::config::config(contract_factory& factory) {
  set("scheduler.max-threads", 2);
  // They wait for work instead of polling, which takes a third of the time.
  set("scheduler.policy", caf::atom("sharing"));
  factory.configure(*this);
}

contract_store::contract_store(std::unique_ptr<contract_factory> factory)
  : factory_(std::move(factory)), cfg_(*factory_), system_(cfg_),
    self_(system_), store_(factory_->open(system_)) {}

contract_store::~contract_store() {
  for (const auto& x : holders_)
    if (const auto holder = caf::actor_cast<lease_holder>(x))
      kill(holder);
  close();
}

template <class Verb>
outcome<Verb> contract_store::operator()(const Verb& x) {
  using answer = answer_to<Verb>;
  outcome<Verb> result{errc::unknown};
  self_->request(store_, patience, x)
    .receive([&](answer& y) { result = std::move(y); },
             [&](caf::error& y) {
               auto status = to_status(y);
               result = status.code();
               error_ = status;
             });
  return result;
}

void contract_store::reopen() {
  close();
  store_ = factory_->open(system_);
}

lease_holder contract_store::start_holder() {
  lease_holder result = system_.spawn<caf::hidden>(
    [](lease_holder::pointer self,
       const managed_store& store) -> lease_holder::behavior_type {
      return {[self, store](cancel_atom, const caf::error&) {
        caf::anon_send(store, release_lease_request{lease_holder{self}});
      }};
    },
    store_);
  holders_.push_back(result.address());
  return result;
}

void contract_store::kill(const lease_holder& x) {
  self_->send_exit(x, caf::exit_reason::kill);
  self_->wait_for(x);
}

void contract_store::close() {
  self_->send_exit(store_, caf::exit_reason::user_shutdown);
  self_->wait_for(store_);
  store_ = nullptr;
}

// All requests of the protocol, so that each is compiled once.
#define TERTULIA_REQUEST(x)                                                    \
  template outcome<x> contract_store::operator()(const x&)
TERTULIA_REQUEST(acquire_lease_request);
TERTULIA_REQUEST(release_lease_request);
TERTULIA_REQUEST(save_snapshot_request);
TERTULIA_REQUEST(get_snapshot_request);
TERTULIA_REQUEST(restore_snapshot_request);
TERTULIA_REQUEST(list_snapshots_request);
TERTULIA_REQUEST(get_session_request);
TERTULIA_REQUEST(save_session_request);
TERTULIA_REQUEST(save_run_request);
TERTULIA_REQUEST(abort_run_request);
TERTULIA_REQUEST(get_run_request);
TERTULIA_REQUEST(list_sessions_request);
TERTULIA_REQUEST(label_snapshot_request);
TERTULIA_REQUEST(delete_session_request);
TERTULIA_REQUEST(prune_snapshots_request);
TERTULIA_REQUEST(copy_session_request);
TERTULIA_REQUEST(annotate_snapshot_request);
TERTULIA_REQUEST(title_session_request);
TERTULIA_REQUEST(list_runs_request);
TERTULIA_REQUEST(vacuum_store_request);
TERTULIA_REQUEST(verify_sessions_request);
#undef TERTULIA_REQUEST

} // namespace tertulia::detail
