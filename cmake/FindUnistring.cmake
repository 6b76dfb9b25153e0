# SPDX-License-Identifier: BSD-3-Clause
#
# Finds libunistring, which installs no CMake package. Defines
# Unistring::Unistring.

include(${CMAKE_CURRENT_LIST_DIR}/tertulia_find_library.cmake)
tertulia_find_library(Unistring unistr.h unistring)
