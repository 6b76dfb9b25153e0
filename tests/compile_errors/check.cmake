# SPDX-License-Identifier: BSD-3-Clause
#
# Compiles a mistake and looks for what the compiler must say. Variables: SOURCE,
# COMPILER, KIND (gcc or clang), VERSION, FLAGS.

file(STRINGS ${SOURCE} expected REGEX "^// expect( ${KIND})?: ")
file(STRINGS ${SOURCE} only REGEX "^// only: g\\+\\+ before 13$")
if(NOT expected)
  message(FATAL_ERROR "${SOURCE} expects nothing of ${KIND}")
endif()

set(ENV{LC_ALL} C) # plain quotes
execute_process(
  COMMAND ${COMPILER} ${FLAGS} -fsyntax-only ${SOURCE}
  RESULT_VARIABLE result
  OUTPUT_VARIABLE said
  ERROR_VARIABLE said)

if(only AND NOT (KIND STREQUAL "gcc" AND VERSION VERSION_LESS 13))
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "is no mistake for this compiler:\n${said}")
  endif()
  return()
endif()
if(result EQUAL 0)
  message(FATAL_ERROR "compiles")
endif()
foreach(line IN LISTS expected)
  string(REGEX REPLACE "^// expect[^:]*: " "" text "${line}")
  string(FIND "${said}" "${text}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "does not say: ${text}\n${said}")
  endif()
endforeach()
