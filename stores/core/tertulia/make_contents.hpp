// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/content_tables.hpp>

#include <cstddef>
#include <memory>

namespace tertulia {

/// States of a store: how the columns of a state refer to its messages and
/// values. One of the two kinds below.
///
/// @threads one at a time.
class store_contents;

/// Makes the states of a store in memory: each row holds its state, which
/// shares its parts with others.
[[nodiscard]] std::shared_ptr<store_contents> make_held_contents();

/// Makes the states of a store that writes them: the text of each message once,
/// however many states of a session have it, and values when they change.
///
/// A session appends its messages to branches of its own. It may use branches
/// and values of a session that it was copied from: each such use is a share.
///
/// @param    remembered_messages maximum number of messages, over all sessions,
///           that are remembered as stored. Those of the most recently used
///           sessions are remembered; of others the next save reads the
///           messages once.
/// @lifetime must not be used after the tables have been destroyed.
/// @design   docs/stores.md#rows.
[[nodiscard]] std::shared_ptr<store_contents>
make_written_contents(content_tables& tables, std::size_t remembered_messages);

} // namespace tertulia
