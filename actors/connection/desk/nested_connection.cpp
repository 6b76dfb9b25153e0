// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/action.hpp>
#include <tertulia/detail/client_verbs.hpp>
#include <tertulia/detail/decline.hpp>
#include <tertulia/detail/nested_connection.hpp>
#include <tertulia/detail/return_path.hpp>

#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace tertulia::detail {

// -- nested_wait --------------------------------------------------------------

nested_wait::~nested_wait() {
  if (is_linked())
    connection_->remove_wait(*this);
}

void nested_wait::abort(const caf::error& reason) {
  connection_->remove_wait(*this);
  wait::abort(reason);
}

bool nested_wait::start_waiting() {
  suspend();
  connection_->add_wait(*this);
  return true;
}

// -- search -------------------------------------------------------------------

/// Search for the run after the loss of the connection. It is a wait of its
/// host, so that an answer finds it only while its connection is there.
class nested_connection::search final : public wait {
public:
  search(nested_connection& of, std::shared_ptr<way_back> way,
         const open_request& first)
    : path(std::move(way), first), owner_(of) {}

  void abort(const caf::error& reason) override;

  [[nodiscard]] nested_connection& owner() const noexcept {
    return owner_;
  }

  return_path path;
  std::uint64_t id = 0; ///< number of the wait; 0 while it is not one

private:
  nested_connection& owner_;
};

// -- nested_connection --------------------------------------------------------

nested_connection::nested_connection(host& owner, const open_result& first,
                                     client_end opened, std::string key,
                                     std::shared_ptr<const action> action)
  : end(std::move(opened)), owner_(owner), peer_(first.connection),
    key_(std::move(key)), action_(std::move(action)) {
  end.on(first);
  owner_.attach(*this);
  greet(peer_, end);
}

void nested_connection::come_back_by(std::shared_ptr<way_back> way,
                                     const open_request& first) {
  end.keep_stored_inputs();
  search_ = std::make_shared<search>(*this, std::move(way), first);
}

nested_connection::~nested_connection() {
  leave();
  if (search_)
    owner_.take_wait(search_->id);
  owner_.detach(*this);
}

caf::error nested_connection::on(completion&& x) {
  if (search_ && search_->path.is_active())
    return return_path::refusal();
  if (!end.ended() && end.is_for(x.reader))
    confirm(peer_, end);
  end.on(std::move(x));
  notify();
  return caf::none;
}

payload nested_connection::prepare(payload value) const {
  if (action_)
    return action_->check_input(std::move(value));
  return peer_.node() == owner_.self()->node() ? value : value.sealed();
}

void nested_connection::send(payload value) {
  owner_.self()->send(peer_, end.message_for(std::move(value)));
}

void nested_connection::close() {
  if (end.close() && !end.ended() && !end.has_unsent())
    tell(peer_, end, caf::close_atom_v);
}

void nested_connection::cancel() {
  if (end.cancel())
    tell(peer_, end, cancel_atom_v);
}

void nested_connection::leave() {
  detail::leave(peer_, end);
  if (end.run())
    owner_.detach(*this); // the body may attach to the run again
  notify();
}

void nested_connection::reject(caf::error reason) {
  if (!end.ended())
    tell(peer_, end, cancel_atom_v);
  end.reject(std::move(reason));
  notify();
  raise(end.failure());
}

void nested_connection::grant(bool waiting) {
  if (const auto due = end.credit_due(waiting); due > 0)
    owner_.self()->send(peer_, chunk_credit{due, end.reader()});
}

// -- coming back --------------------------------------------------------------

void nested_connection::search::abort(const caf::error& reason) {
  owner_.owner_.take_wait(std::exchange(id, 0));
  owner_.lose(reason);
}

void nested_connection::on_lost(caf::error reason) {
  if (!search_ || search_->path.is_active() || !end.can_return()
      || !return_path::may_pass(reason))
    return lose(std::move(reason));
  search_->path.begin();
  static_cast<void>(search_->path.question(end)); // drops what still arrives
  look_for_desk(reason);
}

void nested_connection::lose(caf::error reason) {
  if (search_)
    search_->path.end();
  end.on_lost(std::move(reason));
  notify();
}

/// Returns a function that takes the wait of a search, once: null if another
/// answer has come before, or the connection is gone.
auto nested_connection::begin_to_wait() {
  search_->id = owner_.register_wait(*search_);
  return [&at = owner_, id = search_->id]() -> nested_connection* {
    auto* waiting = static_cast<search*>(at.take_wait(id));
    if (waiting == nullptr)
      return nullptr;
    waiting->id = 0;
    return &waiting->owner();
  };
}

void nested_connection::look_for_desk(const caf::error& reason) {
  const auto take = begin_to_wait();
  // The guide answers each request.
  owner_.self()
    ->request(search_->path.guide(), caf::infinite, caf::connect_atom_v, reason)
    .then(
      [take, &at = owner_](const caf::actor& found) {
        if (auto* client = take()) {
          client->search_->path.found(found);
          client->ask_desk();
        }
        at.drain();
      },
      [take, &at = owner_](const caf::error& failure) {
        if (auto* client = take())
          client->lose(failure);
        at.drain();
      });
}

void nested_connection::ask_desk() {
  auto question = search_->path.question(end);
  if (!question) // it has ended meanwhile
    return search_->path.end();
  question->client = chunk_sink{owner_.self()};
  question->init = question->init.sealed();
  // The first of these answers counts.
  const auto take = begin_to_wait();
  const auto fail_once = [take, &at = owner_](const caf::error& reason) {
    if (auto* client = take())
      client->fail_to_return(reason);
    at.drain();
  };
  auto* self = owner_.self();
  self->request(search_->path.desk(), caf::infinite, std::move(*question))
    .then(
      [take, of = std::weak_ptr{search_}, &at = owner_](const open_result& x) {
        if (auto* client = take()) {
          client->on_returned(x);
        } else {
          const auto late = of.lock();
          decline(x, late && late->path.is_active());
        }
        at.drain();
      },
      fail_once);
  self->request(search_->path.guide(), caf::infinite, caf::monitor_atom_v)
    .then([](caf::ok_atom) {}, fail_once);
}

void nested_connection::on_returned(const open_result& x) {
  const auto is_reopened = search_->path.reopens();
  search_->path.end();
  if (end.ended())
    return decline(x); // left meanwhile
  owner_.detach(*this);
  peer_ = x.connection;
  owner_.attach(*this);
  auto inputs = is_reopened ? end.on_reopened(x) : end.on_returned(x);
  if (end.ended()) {
    decline(x);
    return notify();
  }
  if (is_reopened)
    greet(peer_, end);
  send_again(std::move(inputs));
  if (end.cancelled())
    tell(peer_, end, cancel_atom_v);
  notify();
}

void nested_connection::fail_to_return(const caf::error& reason) {
  switch (search_->path.after(reason, end)) {
    case return_path::step::asks_again: return ask_desk();
    case return_path::step::looks_on: return look_for_desk(reason);
    default: return lose(reason);
  }
}

void nested_connection::send_again(std::vector<turn_input> inputs) {
  for (auto& again : inputs)
    owner_.self()->send(peer_, std::move(again));
  if (end.closed() && !end.has_unsent())
    tell(peer_, end, caf::close_atom_v);
}

void nested_connection::notify() {
  std::erase_if(waits_, [](nested_wait* x) {
    if (!x->is_ready())
      return false;
    x->wake();
    return true;
  });
}

} // namespace tertulia::detail
