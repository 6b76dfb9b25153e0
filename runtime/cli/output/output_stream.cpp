// SPDX-License-Identifier: BSD-3-Clause

#include "output_stream.hpp"

#include <utility>

#include "shown_text.hpp"

namespace tertulia::tool {

output_stream::output_stream(output& to) : buffer_(to), stream_(&buffer_) {
  // Rethrows exceptions of the buffer instead of only setting badbit.
  stream_.exceptions(std::ios::badbit);
}

output_stream::buffer::int_type output_stream::buffer::overflow(int_type x) {
  if (traits_type::eq_int_type(x, traits_type::eof()))
    return traits_type::not_eof(x);
  const auto c = traits_type::to_char_type(x);
  xsputn(&c, 1);
  return x;
}

std::streamsize output_stream::buffer::xsputn(const char* text,
                                              std::streamsize size) {
  const std::string_view all{text, static_cast<std::size_t>(size)};
  if (!to_.is_terminal()) {
    to_.write(all);
    return size;
  }
  line_ += all;
  if (const auto end = line_.rfind('\n'); end != std::string::npos) {
    to_.write(shown_json(std::string_view{line_}.substr(0, end + 1)));
    line_.erase(0, end + 1);
  }
  return size;
}

int output_stream::buffer::sync() {
  to_.write(shown_json(std::exchange(line_, {})));
  to_.flush();
  return 0;
}

} // namespace tertulia::tool
