// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/action.hpp>
#include <tertulia/detail/client_verbs.hpp>
#include <tertulia/detail/nested_connection.hpp>

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

// -- nested_connection --------------------------------------------------------

nested_connection::nested_connection(host& owner, connection_actor peer,
                                     const open_result& first,
                                     std::uint32_t chunk_window,
                                     std::string key,
                                     std::shared_ptr<const action> action)
  : end(chunk_window), owner_(owner), peer_(std::move(peer)),
    key_(std::move(key)), action_(std::move(action)) {
  end.on(first);
  owner_.attach(*this);
  greet(peer_, end);
}

nested_connection::~nested_connection() {
  leave();
  owner_.detach(*this);
}

void nested_connection::on(completion&& x) {
  if (!end.ended())
    confirm(peer_, end, owner_.self()->node());
  end.on(std::move(x));
  notify();
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
  if (end.close() && !end.ended())
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

void nested_connection::notify() {
  std::erase_if(waits_, [](nested_wait* x) {
    if (!x->is_ready())
      return false;
    x->wake();
    return true;
  });
}

} // namespace tertulia::detail
