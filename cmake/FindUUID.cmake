# SPDX-License-Identifier: BSD-3-Clause
#
# Finds libuuid of util-linux, which installs no CMake package. Defines
# UUID::UUID.

include(${CMAKE_CURRENT_LIST_DIR}/tertulia_find_library.cmake)
tertulia_find_library(UUID uuid/uuid.h uuid)
