# SPDX-License-Identifier: BSD-3-Clause
#
# Finds libedit, which installs no CMake package. Defines Editline::Editline.

find_path(EDITLINE_INCLUDE_DIR histedit.h)
find_library(EDITLINE_LIBRARY edit)
mark_as_advanced(EDITLINE_INCLUDE_DIR EDITLINE_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Editline
  REQUIRED_VARS EDITLINE_LIBRARY EDITLINE_INCLUDE_DIR)

if(EDITLINE_FOUND AND NOT TARGET Editline::Editline)
  add_library(Editline::Editline UNKNOWN IMPORTED)
  set_target_properties(Editline::Editline PROPERTIES
    IMPORTED_LOCATION ${EDITLINE_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${EDITLINE_INCLUDE_DIR})
endif()
