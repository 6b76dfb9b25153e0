# SPDX-License-Identifier: BSD-3-Clause
#
# Runs PROGRAM with TEXTS.in, or nothing, as input, keeps what it prints in
# ACTUAL, and compares that with TEXTS.out where it exists.

set(input /dev/null)
if(EXISTS ${TEXTS}.in)
  set(input ${TEXTS}.in)
endif()

execute_process(COMMAND ${PROGRAM}
  INPUT_FILE ${input} OUTPUT_FILE ${ACTUAL} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${result}")
endif()

if(EXISTS ${TEXTS}.out)
  execute_process(COMMAND diff -u ${TEXTS}.out ${ACTUAL} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} printed something else than ${TEXTS}.out")
  endif()
endif()
