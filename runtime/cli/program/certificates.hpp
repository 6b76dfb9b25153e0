// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <ctime>
#include <filesystem>
#include <string>

// A private certificate authority and the certificates that it issues for
// nodes.

namespace tertulia::tool {

/// A certificate and its key, as the names of newly created PEM files.
struct certificate_files {
  std::filesystem::path certificate; ///< 0644
  std::filesystem::path key;         ///< 0600
  std::time_t expires_at = 0;
};

/// Creates the authority of a folder: `authority.crt` and `authority.key`.
/// Creates the folder (0700) if it does not exist. The authority is valid for
/// ten years.
/// @errors throws a failure: `already_exists` if the folder has an authority.
[[nodiscard]] certificate_files
make_authority(const std::filesystem::path& folder);

/// Issues a certificate signed by the authority of a folder: `NAME.crt` and
/// `NAME.key`. A node can use it as a server and as a client. It is valid for
/// two years, but not longer than the authority.
/// @param name 1 to 64 letters, digits, `.`, `_` and `-`, starting with a
///             letter or a digit; not `authority`.
/// @errors throws a failure: `invalid_argument` for a bad name; `not_found`
///         without an authority; `already_exists`; `data_loss` if the
///         authority's key and certificate do not match.
[[nodiscard]] certificate_files
issue_certificate(const std::filesystem::path& folder, const std::string& name);

} // namespace tertulia::tool
