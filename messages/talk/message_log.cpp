// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/message_log.hpp>
#include <tertulia/schema.hpp>

#include <atomic>
#include <cassert>

namespace tertulia::ai {

// -- nodes --------------------------------------------------------------------

/// Node with one message. All members but the two atomics are constant, so that
/// any thread may read them without a lock.
struct message_log::node {
  /// Takes over one reference to `parent`.
  node(node* parent, message value)
    : parent(parent), size(parent != nullptr ? parent->size + 1 : 1),
      value(std::move(value)) {}

  node(const node&) = delete;
  node& operator=(const node&) = delete;

  ~node() {
    delete hash.load(std::memory_order_relaxed);
  }

  /// Caches the hash of the log up to this node. Several threads may call this
  /// at once with the same hash. The first one stays, so a pointer to it never
  /// dangles.
  void keep(const sha256& x) const {
    auto mine = std::make_unique<const sha256>(x);
    const sha256* none = nullptr;
    if (hash.compare_exchange_strong(none, mine.get(),
                                     std::memory_order_release,
                                     std::memory_order_relaxed))
      (void)mine.release();
  }

  std::atomic<std::size_t> references{1};

  /// Set at most once, by the first thread that stores it; owned.
  mutable std::atomic<const sha256*> hash{nullptr};

  node* const parent;
  const std::size_t size;
  const message value;
};

message_log::node* message_log::acquire(node* x) noexcept {
  if (x != nullptr) // the caller holds a reference: no ordering needed
    x->references.fetch_add(1, std::memory_order_relaxed);
  return x;
}

void message_log::release(node* x) noexcept {
  // A loop, because a recursion over a million messages would overflow the
  // stack. The last owner must see all that others did with the node, hence
  // acquire-release.
  while (x != nullptr
         && x->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    const auto parent = x->parent;
    delete x;
    x = parent;
  }
}

void message_log::append(message next) {
  tip_ = new node(tip_, std::move(next)); // our reference is now the node's
}

// -- content ------------------------------------------------------------------

message_log::message_log(std::vector<message> messages) : message_log() {
  for (auto& x : messages)
    append(std::move(x));
}

std::size_t message_log::size() const noexcept {
  return tip_ != nullptr ? tip_->size : 0;
}

const message& message_log::back() const noexcept {
  assert(!empty());
  return tip_->value;
}

message_log::iterator message_log::begin() const {
  return from(0).begin();
}

message_log::range message_log::from(std::size_t first) const {
  assert(first <= size());
  if (first >= size())
    return range{iterator{}};
  auto result = std::make_shared<iterator::path>();
  result->log = *this;
  result->messages.resize(size() - first);
  auto x = tip_;
  for (auto i = result->messages.rbegin(); i != result->messages.rend(); ++i) {
    *i = &x->value;
    x = x->parent;
  }
  return range{iterator{std::move(result)}};
}

std::vector<message> message_log::to_vector() const {
  std::vector<message> result;
  result.reserve(size());
  for (const auto& x : *this)
    result.push_back(x);
  return result;
}

// -- derived logs -------------------------------------------------------------

message_log message_log::with(message next) const {
  auto result = *this;
  result.append(std::move(next));
  return result;
}

message_log message_log::with(std::vector<message> next) const {
  auto result = *this;
  for (auto& x : next)
    result.append(std::move(x));
  return result;
}

message_log message_log::with_back(message last) const {
  assert(!empty());
  return prefix(size() - 1).with(std::move(last));
}

message_log message_log::prefix(std::size_t n) const noexcept {
  assert(n <= size());
  auto x = tip_;
  while (x != nullptr && x->size > n)
    x = x->parent;
  return message_log{acquire(x)};
}

// -- comparison ---------------------------------------------------------------

std::size_t message_log::shared_with(const message_log& other) const noexcept {
  auto x = tip_;
  auto y = other.tip_;
  while (x != y) { // both end at null
    if (y == nullptr || (x != nullptr && x->size > y->size)) {
      x = x->parent;
    } else if (x == nullptr || x->size < y->size) {
      y = y->parent;
    } else {
      x = x->parent;
      y = y->parent;
    }
  }
  return x != nullptr ? x->size : 0;
}

bool operator==(const message_log& a, const message_log& b) {
  if (a.size() != b.size())
    return false;
  for (auto x = a.tip_, y = b.tip_; x != y; x = x->parent, y = y->parent)
    if (!(x->value == y->value))
      return false;
  return true;
}

// -- hash ---------------------------------------------------------------------

sha256 message_log::digest() const {
  assert(!empty());
  std::vector<const node*> missing;
  const sha256* known = nullptr;
  for (auto x = tip_; x != nullptr; x = x->parent) {
    // pairs with the release in `keep`: the hash is complete
    known = x->hash.load(std::memory_order_acquire);
    if (known != nullptr)
      break;
    missing.push_back(x);
  }
  if (missing.empty())
    return *known;

  sha256 result;
  if (known != nullptr)
    result = *known;
  else
    result.update(R"({"messages":[)");
  const json_path root;
  const json_path list{root, "messages"};
  std::string text;
  for (auto i = missing.rbegin(); i != missing.rend(); ++i) {
    const auto& x = **i;
    text.assign(x.size > 1 ? 1 : 0, ',');
    detail::write_value(text, x.value, {list, x.size - 1});
    result.update(text);
    // Logs that grow from a message in between can continue from this state.
    if (x.size % 32 == 0 || &x == tip_)
      x.keep(result);
  }
  return result;
}

} // namespace tertulia::ai

// -- JSON ---------------------------------------------------------------------

namespace tertulia {

void json_codec<ai::message_log>::write(std::string& out,
                                        const ai::message_log& x,
                                        const json_path& path) {
  detail::write_array(out, x, path);
}

ai::message_log json_codec<ai::message_log>::read(const json& from,
                                                  const json_path& path) {
  return ai::message_log{
    detail::read_value<std::vector<ai::message>>(from, path)};
}

json json_codec<ai::message_log>::schema() {
  return detail::nested_schema_of<std::vector<ai::message>>();
}

} // namespace tertulia
