# SPDX-License-Identifier: BSD-3-Clause
#
# Finds Nettle, which installs no CMake package. Defines Nettle::Nettle.

include(${CMAKE_CURRENT_LIST_DIR}/tertulia_find_library.cmake)
tertulia_find_library(Nettle nettle/sha2.h nettle)
