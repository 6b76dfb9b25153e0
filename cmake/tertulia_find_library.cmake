# SPDX-License-Identifier: BSD-3-Clause

# tertulia_find_library(<package> <header> <library>): all that a find module
# does for a library that installs no CMake package. Defines
# <package>::<package>.
function(tertulia_find_library package header library)
  string(TOUPPER ${package} name)
  find_path(${name}_INCLUDE_DIR ${header})
  find_library(${name}_LIBRARY ${library})
  mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)

  include(FindPackageHandleStandardArgs)
  find_package_handle_standard_args(${package}
    REQUIRED_VARS ${name}_LIBRARY ${name}_INCLUDE_DIR)
  set(${package}_FOUND ${${package}_FOUND} PARENT_SCOPE)

  if(${package}_FOUND AND NOT TARGET ${package}::${package})
    add_library(${package}::${package} UNKNOWN IMPORTED)
    set_target_properties(${package}::${package} PROPERTIES
      IMPORTED_LOCATION ${${name}_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${${name}_INCLUDE_DIR})
  endif()
endfunction()
