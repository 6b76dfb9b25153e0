# SPDX-License-Identifier: BSD-3-Clause
#
# Runs PROGRAM, which is echo_terminal, again and again on one store in SCRATCH:
# its conversation goes on where it was.

file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})
foreach(first 1 3 5)
  math(EXPR second "${first} + 1")
  execute_process(COMMAND ${PROGRAM} --store ${SCRATCH}/conversation.db
    INPUT_FILE ${INPUT} OUTPUT_VARIABLE said RESULT_VARIABLE result)
  set(expected
    "${first}: hello\n${second}: world\n${second} messages so far\n")
  if(NOT result EQUAL 0 OR NOT said STREQUAL expected)
    message(FATAL_ERROR "${PROGRAM} ended with ${result} and said:\n${said}")
  endif()
endforeach()
file(REMOVE_RECURSE ${SCRATCH})
