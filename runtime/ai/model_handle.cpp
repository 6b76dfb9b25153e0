// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/model_handle.hpp>

#include <utility>

namespace tertulia::ai {

task<model_response> model::at_once(context ctx, action_type what,
                                    generate_request request) {
  const with_init init{std::move(request)};
  auto talk = co_await what.open(ctx, init);
  talk.close();
  co_return co_await talk.output();
}

template task<model_response>
  model::streamed<chunk_callback>(context, action_type, generate_request,
                                  chunk_callback);

} // namespace tertulia::ai
