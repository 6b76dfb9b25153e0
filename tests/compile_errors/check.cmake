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

# Compiles the source. Sets `result`, `said`, and `missing` to what is expected
# and not said.
macro(compile)
  execute_process(
    COMMAND ${COMPILER} ${FLAGS} -fsyntax-only ${ARGV} ${SOURCE}
    RESULT_VARIABLE result
    OUTPUT_VARIABLE said
    ERROR_VARIABLE said)
  set(missing)
  foreach(line IN LISTS expected)
    string(REGEX REPLACE "^// expect[^:]*: " "" text "${line}")
    string(FIND "${said}" "${text}" found)
    if(found EQUAL -1)
      list(APPEND missing "${text}")
    endif()
  endforeach()
endmacro()

# The first error is usually enough, and spares the compiler the end of the
# file, where it instantiates what the headers use.
compile(-Wfatal-errors)
if(missing)
  compile()
endif()

if(only AND NOT (KIND STREQUAL "gcc" AND VERSION VERSION_LESS 13))
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "is no mistake for this compiler:\n${said}")
  endif()
  return()
endif()
if(result EQUAL 0)
  message(FATAL_ERROR "compiles")
endif()
if(missing)
  message(FATAL_ERROR "does not say: ${missing}\n${said}")
endif()
