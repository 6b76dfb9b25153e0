// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <ctime>
#include <filesystem>
#include <string>

// A private authority, and the certificates that it issues for nodes.

namespace tertulia::tool {

/// A certificate and its key, as PEM files that were made.
struct certificate_files {
  std::filesystem::path certificate; ///< 0644
  std::filesystem::path key;         ///< 0600
  std::time_t expires_at = 0;
};

/// Makes the authority of a folder, which is created (0700) if it is missing:
/// `authority.crt` and `authority.key`. It is good for ten years.
/// @errors throws a failure: `already_exists` if there is one.
[[nodiscard]] certificate_files
make_authority(const std::filesystem::path& folder);

/// Issues a certificate by the authority of a folder: `NAME.crt`, `NAME.key`.
/// It is good for a node as a server and as a client, for two years but not for
/// longer than the authority.
/// @param name 1 to 64 of letters, digits, `.`, `_` and `-`, of which the first
///             is a letter or a digit; not `authority`.
/// @errors throws a failure: `invalid_argument` for a bad name; `not_found`
///         without an authority; `already_exists`; `data_loss` if the
///         authority's key and certificate do not fit.
[[nodiscard]] certificate_files
issue_certificate(const std::filesystem::path& folder, const std::string& name);

} // namespace tertulia::tool
