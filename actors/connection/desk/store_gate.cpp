// SPDX-License-Identifier: BSD-3-Clause

#include "store_gate.hpp"

#include <tertulia/store.hpp>
#include <tertulia/store_handlers.hpp>

#include <caf/actor_cast.hpp>
#include <caf/local_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <utility>

namespace tertulia::detail {

managed_store spawn_store_gate(caf::local_actor& parent,
                               const snapshot_store& store) {
  return parent.spawn<caf::hidden>(
    [](managed_store::pointer self, const managed_store& behind) {
      return tertulia::handle_verbs<managed_store>(
        [=]<class Verb, class Reply = store_reply_t<Verb>>(Verb x)
          ->caf::result<Reply> {
            auto answer = self->template make_response_promise<Reply>();
            // No time-out: the client limits the time, and CAF answers for a
            // store that has died.
            self->request(behind, caf::infinite, std::move(x))
              .then(
                [answer](Reply& y) mutable { answer.deliver(std::move(y)); },
                [answer](caf::error& y) mutable {
                  answer.deliver(std::move(y));
                });
            return answer;
          });
    },
    caf::actor_cast<managed_store>(store));
}

} // namespace tertulia::detail
