// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/genkit_protocol.hpp>

#include <array>

#include "genkit_events.hpp"
#include "genkit_routes.hpp"
#include "routes/route.hpp"

namespace tertulia {

http_protocol genkit_protocol() noexcept {
  static constexpr std::array routes{
    web::route{web::http::verb::post, "/genkit", true, web::audience::callers,
               web::run_for_genkit}};
  static constexpr web::protocol result{routes, web::genkit_stream_field,
                                        web::genkit_stream_field,
                                        web::describe_genkit};
  return result;
}

} // namespace tertulia
