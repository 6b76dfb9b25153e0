# SPDX-License-Identifier: BSD-3-Clause
#
# Checks that the headers in the include roots of a folder read no header of CAF.

set(includes)
set(flags)
foreach(root IN LISTS ROOTS)
  file(GLOB_RECURSE headers RELATIVE ${root} ${root}/tertulia/*.hpp)
  foreach(header IN LISTS headers)
    string(APPEND includes "#include <${header}>\n")
  endforeach()
  list(APPEND flags -I${root})
endforeach()

# read(<source> <variable>): the files that the compiler reads for a source.
function(read source result)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E echo "${source}"
    COMMAND ${COMPILER} -std=c++20 -M ${flags} -x c++ -
    OUTPUT_VARIABLE files ERROR_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${files}" PARENT_SCOPE)
endfunction()

read("${includes}" files)
if(NOT files MATCHES "tertulia/json.hpp")
  message(FATAL_ERROR "json.hpp is not among the headers: ${files}")
endif()
if(files MATCHES "[^ ]*/caf/[^ ]*")
  message(FATAL_ERROR "${CMAKE_MATCH_0} is read")
endif()
