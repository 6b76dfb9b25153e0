// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/host.hpp>
#include <tertulia/http_stream.hpp>

#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "endpoint.hpp"

namespace tertulia::http {

/// Buffer of libcurl for a request, in bytes: one for each waiting chat.
inline constexpr std::size_t buffer_size = 4'096;

/// Error of a request that received no byte of an answer: it may be sent again.
class no_answer : public status_error {
public:
  using status_error::status_error;
};

/// Part of an answer that a body waits for.
enum class part { head, bytes };

/// Wait of a body, by its number.
struct listener {
  detail::host_actor actor;
  std::uint64_t id = 0;
};

/// Request and its answer, which is held back by libcurl while the body does
/// not read it.
///
/// @threads  the first group of members from any thread, the second one only on
///           the I/O thread.
/// @lifetime shared by its body and its connections.
class transfer : public std::enable_shared_from_this<transfer> {
public:
  using clock = io_loop::clock;

  transfer(std::shared_ptr<endpoint> target,
           std::shared_ptr<const http_request> request)
    : endpoint_(std::move(target)), request_(std::move(request)),
      timer_(endpoint_->io->loop(), [this] { on_time(); }) {}

  transfer(const transfer&) = delete;
  transfer& operator=(const transfer&) = delete;
  ~transfer();

  // -- for the body -----------------------------------------------------------

  /// Sends the request.
  void start();

  /// Returns whether the part, or an error in its place, is there. If not, the
  /// listener is told once it is.
  bool is_ready(part wanted, listener to = {});

  /// Returns the head of the answer.
  /// @pre `is_ready`.
  /// @errors throws `no_answer` if no byte arrives; `resource_exhausted` for a
  ///         head that is too long; `data_loss` for an answer that is not HTTP;
  ///         `deadline_exceeded`.
  http_head take_head();

  /// Returns the next bytes of the answer's body; empty at the end.
  /// @pre `is_ready`.
  /// @errors throws `unavailable` if the connection is lost before the end;
  ///         `resource_exhausted` for a body that is too long; `data_loss`;
  ///         `deadline_exceeded`.
  std::string take_bytes();

  /// Drops the rest of the answer and keeps the connection for the next
  /// request, if the rest is short and arrives soon.
  void finish_soon();

  /// Closes the connection unless the answer is complete.
  void close_soon() noexcept;

  // -- for the connections ----------------------------------------------------

  /// Starts the time-out for connecting, which includes the time in the queue.
  void begin();

  /// Returns the handle of the request.
  CURL* open();

  [[nodiscard]] CURL* handle() const noexcept {
    return easy_.get();
  }

  /// Ends the request with the result of libcurl.
  void end(CURLcode result);

  /// Ends the request; without effect if it has ended.
  /// @param failure null if the answer is complete.
  void end(std::exception_ptr failure);

private:
  enum class phase { connecting, sent, answer, rest };

  struct easy_deleter {
    void operator()(CURL* x) const {
      curl_easy_cleanup(x);
    }
  };

  struct fields_deleter {
    void operator()(curl_slist* x) const {
      curl_slist_free_all(x);
    }
  };

  static std::size_t on_header(char* data, std::size_t, std::size_t size,
                               void* self);
  static std::size_t on_body(char* data, std::size_t, std::size_t size,
                             void* self);
  static int on_trace(CURL*, curl_infotype type, char*, std::size_t size,
                      void* self);
  static int on_connected(void* self, char*, char*, int, int);
  static curl_socket_t on_socket(void* self, curlsocktype, curl_sockaddr* to);

  bool take_line(std::string_view line);
  bool end_head();
  std::size_t take_body(std::string_view bytes);
  void on_time();
  void set_fields();
  void set_tls();
  void set_proxy();

  /// Records the reason for which a callback ends the request.
  /// @returns false.
  bool refuse(errc code, const std::string& reason);

  [[nodiscard]] std::exception_ptr failure_of_connecting(CURLcode x) const;
  [[nodiscard]] std::exception_ptr failure_of_answer(CURLcode x) const;
  [[nodiscard]] std::string reason_of(CURLcode x) const;

  void tell(listener to);

  std::shared_ptr<endpoint> endpoint_;
  std::shared_ptr<const http_request> request_;

  // I/O thread
  std::unique_ptr<CURL, easy_deleter> easy_;
  std::unique_ptr<curl_slist, fields_deleter> fields_;
  std::array<char, CURL_ERROR_SIZE> error_text_{};
  timer timer_;
  phase phase_ = phase::connecting;
  bool has_ended_ = false;
  std::size_t head_size_ = 0;  // bytes of header lines, including interim ones
  std::size_t body_size_ = 0;  // bytes of the body
  std::size_t frame_size_ = 0; // bytes since the last ones of the body
  std::size_t rest_size_ = 0;  // bytes after the body has lost interest
  http_head incoming_;
  std::exception_ptr refusal_;

  std::mutex mutex_; // guards the members below
  listener waiting_;
  part wanted_ = part::head;
  clock::time_point waiting_since_;
  bool has_head_ = false;
  http_head head_;
  std::string bytes_;
  bool is_paused_ = false;
  bool is_done_ = false;
  std::exception_ptr failure_;
};

} // namespace tertulia::http
