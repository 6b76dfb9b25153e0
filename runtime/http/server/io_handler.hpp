// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/system/error_code.hpp>

namespace tertulia::web {

/// Signature of what is called with the outcome of a read or a write.
using io_signature = void(boost::system::error_code, std::size_t);

/// Function that is called once with the outcome of a read or a write. Of one
/// type for all functions, so that what calls it is compiled once.
///
/// @threads one at a time.
class io_handler {
public:
  template <class Handler>
  requires(!std::is_same_v<Handler, io_handler>) explicit io_handler(Handler x)
    : callable_(std::make_unique<callable_of<Handler>>(std::move(x))) {}

  /// @post nothing else is called.
  void operator()(boost::system::error_code problem, std::size_t size) {
    callable_.release()->call(problem, size);
  }

private:
  struct callable {
    callable() = default;
    callable(const callable&) = delete;
    callable& operator=(const callable&) = delete;
    virtual ~callable() = default;

    /// Destroys this object first: what is called may begin the next transfer.
    virtual void call(boost::system::error_code problem, std::size_t size) = 0;
  };

  template <class Handler>
  struct callable_of final : callable {
    explicit callable_of(Handler x) : handler(std::move(x)) {}

    void call(boost::system::error_code problem, std::size_t size) override {
      auto last = std::move(handler);
      delete this;
      last(problem, size);
    }

    Handler handler;
  };

  std::unique_ptr<callable> callable_;
};

/// Buffers of one read or one write, at most 8. Further ones are left out: a
/// stream may transfer less than it could.
///
/// @tparam Buffer one of `net::mutable_buffer` and `net::const_buffer`.
template <class Buffer>
class buffer_list {
public:
  using value_type = Buffer;
  using const_iterator = const Buffer*;

  template <class Buffers>
  explicit buffer_list(const Buffers& from) {
    const auto last = boost::asio::buffer_sequence_end(from);
    for (auto i = boost::asio::buffer_sequence_begin(from);
         i != last && size_ < buffers_.size(); ++i) {
      const Buffer next{*i};
      if (next.size() > 0)
        buffers_[size_++] = next;
    }
  }

  [[nodiscard]] const Buffer* begin() const noexcept {
    return buffers_.data();
  }

  [[nodiscard]] const Buffer* end() const noexcept {
    return buffers_.data() + size_;
  }

private:
  std::array<Buffer, 8> buffers_;
  std::size_t size_ = 0;
};

} // namespace tertulia::web
