// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tertulia::web {

namespace net = boost::asio;

using clock = std::chrono::steady_clock;

/// Completion of an operation: `co_await` yields its error code, and what else
/// there is.
inline constexpr auto as_result = net::as_tuple(net::use_awaitable);

/// Queue from actors to a coroutine of the server.
///
/// @threads all members.
template <class T>
class channel {
public:
  /// Adds an item, unless the reader is gone.
  /// @param is_urgent whether a waiting reader learns of it at once; otherwise
  ///        it does with the next item that is, or with the end.
  void push(T x, bool is_urgent = true) {
    const std::lock_guard guard{mutex_};
    if (is_closed_)
      return;
    items_.push_back(std::move(x));
    if (is_urgent)
      wake();
  }

  /// Ends the queue: nothing follows what it holds.
  void end() {
    const std::lock_guard guard{mutex_};
    has_ended_ = true;
    wake();
  }

private:
  template <class>
  friend class channel_reader;

  void wake() {
    if (const auto waiting = std::exchange(waiting_, {}).lock())
      net::post(waiting->get_executor(), [timer = std::weak_ptr{waiting}] {
        if (const auto still_waiting = timer.lock())
          still_waiting->cancel();
      });
  }

  std::mutex mutex_;
  std::vector<T> items_;
  bool has_ended_ = false;
  bool is_closed_ = false;
  std::weak_ptr<net::steady_timer> waiting_; ///< set while the reader waits
};

/// Reader of a channel.
///
/// @threads  those of its executor.
/// @lifetime what is pushed after its end is dropped, so actors may hold the
///           channel longer.
template <class T>
class channel_reader {
public:
  explicit channel_reader(const net::any_io_executor& executor)
    : source_(std::make_shared<channel<T>>()),
      timer_(std::make_shared<net::steady_timer>(executor)) {}

  channel_reader(const channel_reader&) = delete;
  channel_reader& operator=(const channel_reader&) = delete;

  ~channel_reader() {
    const std::lock_guard guard{source_->mutex_};
    source_->is_closed_ = true;
    source_->items_.clear();
    source_->waiting_.reset();
  }

  [[nodiscard]] const std::shared_ptr<channel<T>>& source() const noexcept {
    return source_;
  }

  /// Outcome of a wait.
  enum class outcome { items, timeout, end };

  /// Waits for items, and takes all of them.
  /// @param items is cleared first.
  net::awaitable<outcome> take(std::vector<T>& items,
                               clock::time_point until
                               = clock::time_point::max()) {
    items.clear();
    for (;;) {
      {
        const std::lock_guard guard{source_->mutex_};
        if (!source_->items_.empty()) {
          items.swap(source_->items_);
          co_return outcome::items;
        }
        if (source_->has_ended_)
          co_return outcome::end;
        if (clock::now() >= until)
          co_return outcome::timeout;
        timer_->expires_at(until);
        source_->waiting_ = timer_;
      }
      co_await timer_->async_wait(as_result);
    }
  }

private:
  std::shared_ptr<channel<T>> source_;
  std::shared_ptr<net::steady_timer> timer_;
};

} // namespace tertulia::web
