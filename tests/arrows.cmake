# SPDX-License-Identifier: BSD-3-Clause
#
# Checks that a header cannot be included with the include roots of a folder,
# although a header that the folder may see can be.

function(try_include header result)
  list(TRANSFORM ROOTS PREPEND -I OUTPUT_VARIABLE flags)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E echo "#include <tertulia/${header}>"
    COMMAND ${COMPILER} -std=c++20 -E ${flags} -x c++ -o /dev/null -
    RESULT_VARIABLE code ERROR_VARIABLE text)
  if(code EQUAL 0)
    set(${result} found PARENT_SCOPE)
  elseif(text MATCHES "tertulia/${header}.*(No such file|not found)")
    set(${result} missing PARENT_SCOPE)
  else()
    message(FATAL_ERROR "${text}")
  endif()
endfunction()

try_include(errc.hpp allowed)
if(NOT allowed STREQUAL "found")
  message(FATAL_ERROR "errc.hpp, which all folders see, is ${allowed}")
endif()
try_include(${HEADER} forbidden)
if(NOT forbidden STREQUAL "missing")
  message(FATAL_ERROR "${HEADER} is ${forbidden}")
endif()
