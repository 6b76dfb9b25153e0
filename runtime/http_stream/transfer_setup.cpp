// SPDX-License-Identifier: BSD-3-Clause

// How a transfer asks libcurl for its request.

#include <tertulia/detail/text.hpp>

#include <climits>
#include <string>

#include "transfer.hpp"

namespace tertulia::http {

CURL* transfer::open() {
  easy_.reset(curl_easy_init());
  if (!easy_)
    return nullptr;
  const auto set = [this](auto option, auto value) {
    curl_easy_setopt(easy_.get(), option, value);
  };
  set(CURLOPT_PRIVATE, this);
  set(CURLOPT_URL, (endpoint_->server.text() + request_->path).c_str());
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  // Over HTTP/2 libcurl would buffer megabytes that nobody reads.
  set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L); // does not wait for a lookup that it gives up
  set(CURLOPT_BUFFERSIZE, static_cast<long>(buffer_size));
  set(CURLOPT_ERRORBUFFER, error_text_.data());
  // The timer of this object is shorter, but the default may be shorter still.
  set(CURLOPT_CONNECTTIMEOUT_MS, long{INT_MAX});
  set(CURLOPT_MAXAGE_CONN, 30L);
  if (endpoint_->options.max_idle_connections == 0)
    set(CURLOPT_FORBID_REUSE, 1L);
  if (request_->body.empty() && request_->method == "GET") {
    set(CURLOPT_HTTPGET, 1L);
  } else {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE,
        static_cast<curl_off_t>(request_->body.size()));
    set(CURLOPT_POSTFIELDS, request_->body.c_str());
    set(CURLOPT_CUSTOMREQUEST, request_->method.c_str());
  }
  set_fields();
  set_tls();
  set_proxy();
  set(CURLOPT_HEADERFUNCTION, on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, on_body);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_PREREQFUNCTION, on_connected);
  set(CURLOPT_PREREQDATA, this);
  set(CURLOPT_OPENSOCKETFUNCTION, on_socket);
  set(CURLOPT_OPENSOCKETDATA, this);
  // The only way to hear of bytes around the body.
  set(CURLOPT_VERBOSE, 1L);
  set(CURLOPT_DEBUGFUNCTION, on_trace);
  set(CURLOPT_DEBUGDATA, this);
  return easy_.get();
}

void transfer::set_fields() {
  const auto add = [this](const std::string& line) {
    if (auto* longer = curl_slist_append(fields_.get(), line.c_str())) {
      (void)fields_.release();
      fields_.reset(longer);
    }
  };
  add("User-Agent: tertulia");
  add("Accept-Encoding: identity");
  add("Expect:"); // none
  auto has_type = request_->body.empty();
  const auto add_all = [&](const http_fields& fields) {
    for (const auto& [name, value] : fields) {
      has_type = has_type || detail::lowered(name) == "content-type";
      auto line = name;
      line += value.empty() ? ";" : ": ";
      line += value;
      add(line);
    }
  };
  add_all(endpoint_->options.headers);
  add_all(request_->headers);
  if (!has_type)
    add("Content-Type: application/json");
  curl_easy_setopt(easy_.get(), CURLOPT_HTTPHEADER, fields_.get());
}

void transfer::set_tls() {
  auto* to = easy_.get();
  curl_easy_setopt(to, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  if (!endpoint_->certificates.empty()) {
    curl_blob trusted{const_cast<char*>(endpoint_->certificates.data()),
                      endpoint_->certificates.size(), CURL_BLOB_NOCOPY};
    curl_easy_setopt(to, CURLOPT_CAINFO_BLOB, &trusted);
    curl_easy_setopt(to, CURLOPT_CAINFO, nullptr);
    curl_easy_setopt(to, CURLOPT_CAPATH, nullptr);
    return;
  }
  if (!endpoint_->ca_file.empty())
    curl_easy_setopt(to, CURLOPT_CAINFO, endpoint_->ca_file.c_str());
  if (!endpoint_->ca_folder.empty())
    curl_easy_setopt(to, CURLOPT_CAPATH, endpoint_->ca_folder.c_str());
}

void transfer::set_proxy() {
  auto* to = easy_.get();
  // Empty texts keep libcurl from reading the environment by itself.
  curl_easy_setopt(to, CURLOPT_NOPROXY, endpoint_->no_proxy.c_str());
  if (!endpoint_->proxy) {
    curl_easy_setopt(to, CURLOPT_PROXY, "");
    return;
  }
  curl_easy_setopt(to, CURLOPT_PROXY, endpoint_->proxy->text().c_str());
  curl_easy_setopt(to, CURLOPT_HTTPPROXYTUNNEL, 1L);
  if (!endpoint_->proxy->user.empty()) {
    curl_easy_setopt(to, CURLOPT_PROXYUSERNAME, endpoint_->proxy->user.c_str());
    curl_easy_setopt(to, CURLOPT_PROXYPASSWORD,
                     endpoint_->proxy->password.c_str());
  }
}

} // namespace tertulia::http
