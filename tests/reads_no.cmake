# SPDX-License-Identifier: BSD-3-Clause
#
# Checks that headers do not read what they need not. Variables: FLAGS, with
# which the compiler finds them; HEADERS; READS, one file that is read; NOT, a
# pattern of those that are not.

set(source)
foreach(header IN LISTS HEADERS)
  string(APPEND source "#include <${header}>\n")
endforeach()

# Debian's CAF is in a folder that the compiler always searches, so the files
# that it reads are listed.
execute_process(
  COMMAND ${CMAKE_COMMAND} -E echo "${source}"
  COMMAND ${COMPILER} -std=c++20 -M ${FLAGS} -x c++ -
  OUTPUT_VARIABLE files ERROR_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)

string(FIND "${files}" "${READS}" found)
if(found EQUAL -1)
  message(FATAL_ERROR "${READS} is not among the headers: ${files}")
endif()
if(files MATCHES "[^ ]*${NOT}[^ ]*")
  message(FATAL_ERROR "${CMAKE_MATCH_0} is read")
endif()
