# SPDX-License-Identifier: BSD-3-Clause
#
# Finds CAF 0.17, which installs no CMake package of its own.
#
#   find_package(CAF COMPONENTS core io openssl)
#
# defines the imported targets CAF::core, CAF::io and CAF::openssl: the names
# that CAF 0.18 and newer export. Any other series than 0.17 is refused, because
# its API is a different one.

find_path(CAF_INCLUDE_DIR caf/config.hpp)
mark_as_advanced(CAF_INCLUDE_DIR)

set(CAF_VERSION_IS_RIGHT FALSE)
set(CAF_REASON "")
if(CAF_INCLUDE_DIR)
  file(STRINGS ${CAF_INCLUDE_DIR}/caf/config.hpp CAF_VERSION_LINE
    REGEX "^#define CAF_VERSION [0-9]+")
  # 1706 means 0.17.6.
  if(CAF_VERSION_LINE MATCHES "CAF_VERSION ([0-9]*)([0-9][0-9])([0-9][0-9])")
    math(EXPR CAF_VERSION_MAJOR "0${CMAKE_MATCH_1}")
    math(EXPR CAF_VERSION_MINOR "${CMAKE_MATCH_2}")
    math(EXPR CAF_VERSION_PATCH "${CMAKE_MATCH_3}")
    set(CAF_VERSION
      ${CAF_VERSION_MAJOR}.${CAF_VERSION_MINOR}.${CAF_VERSION_PATCH})
  endif()
  if(CAF_VERSION MATCHES "^0\\.17\\.")
    set(CAF_VERSION_IS_RIGHT TRUE)
  else()
    set(CAF_REASON "tertulia needs CAF 0.17, but ${CAF_INCLUDE_DIR} holds \
${CAF_VERSION}")
  endif()
endif()

set(CAF_NEEDS_core)
set(CAF_NEEDS_io CAF::core)
set(CAF_NEEDS_openssl CAF::io)

foreach(component IN LISTS CAF_FIND_COMPONENTS)
  find_library(CAF_${component}_LIBRARY caf_${component})
  mark_as_advanced(CAF_${component}_LIBRARY)
  if(CAF_${component}_LIBRARY AND CAF_VERSION_IS_RIGHT)
    set(CAF_${component}_FOUND TRUE)
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CAF
  REQUIRED_VARS CAF_INCLUDE_DIR CAF_VERSION_IS_RIGHT
  VERSION_VAR CAF_VERSION
  HANDLE_COMPONENTS
  REASON_FAILURE_MESSAGE ${CAF_REASON})

if(CAF_FOUND)
  foreach(component IN LISTS CAF_FIND_COMPONENTS)
    if(CAF_${component}_FOUND AND NOT TARGET CAF::${component})
      add_library(CAF::${component} UNKNOWN IMPORTED)
      set_target_properties(CAF::${component} PROPERTIES
        IMPORTED_LOCATION ${CAF_${component}_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${CAF_INCLUDE_DIR}
        INTERFACE_LINK_LIBRARIES "${CAF_NEEDS_${component}}")
    endif()
  endforeach()
endif()
