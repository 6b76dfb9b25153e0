# SPDX-License-Identifier: BSD-3-Clause
#
# Finds cjose, which reads and verifies JSON Web Signatures. Defines
# Cjose::Cjose.

include(${CMAKE_CURRENT_LIST_DIR}/tertulia_find_library.cmake)
tertulia_find_library(Cjose cjose/cjose.h cjose)
