# SPDX-License-Identifier: BSD-3-Clause
#
# Checks that headers do not read what they need not. Variables: ROOTS, the
# folders in which headers are found; HEADERS, those to check, by default all in
# the roots; READS, one file that is read; NOT, a pattern of those that are not.

set(flags)
set(found)
foreach(root IN LISTS ROOTS)
  list(APPEND flags -I${root})
  file(GLOB_RECURSE all RELATIVE ${root} ${root}/tertulia/*.hpp)
  list(APPEND found ${all})
endforeach()
if(NOT HEADERS)
  set(HEADERS ${found})
endif()
set(source)
foreach(header IN LISTS HEADERS)
  string(APPEND source "#include <${header}>\n")
endforeach()

# Debian's CAF is in a folder that the compiler always searches, so the files
# that it reads are listed.
execute_process(
  COMMAND ${CMAKE_COMMAND} -E echo "${source}"
  COMMAND ${COMPILER} -std=c++20 -M ${flags} -x c++ -
  OUTPUT_VARIABLE files ERROR_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)

string(FIND "${files}" "${READS}" found)
if(found EQUAL -1)
  message(FATAL_ERROR "${READS} is not among the headers: ${files}")
endif()
if(files MATCHES "[^ ]*${NOT}[^ ]*")
  message(FATAL_ERROR "${CMAKE_MATCH_0} is read")
endif()
