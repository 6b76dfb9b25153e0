# SPDX-License-Identifier: BSD-3-Clause
#
# Finds libedit, which installs no CMake package. Defines Editline::Editline.

include(${CMAKE_CURRENT_LIST_DIR}/tertulia_find_library.cmake)
tertulia_find_library(Editline histedit.h edit)
