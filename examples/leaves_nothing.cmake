# SPDX-License-Identifier: BSD-3-Clause
#
# Runs PROGRAM where it can make a temporary folder, but, because paths have a
# limit, nothing in it: it must say so, and take the folder away. SCRATCH is a
# folder for that.

file(REMOVE_RECURSE ${SCRATCH})
set(folder ${SCRATCH})
set(longest 4080) # with the name of the folder below Linux's 4095 bytes
string(REPEAT x 200 name)
string(LENGTH ${folder} length)
math(EXPR rest "${longest} - ${length}")
while(rest GREATER 202)
  string(APPEND folder /${name})
  math(EXPR rest "${rest} - 201")
endwhile()
math(EXPR rest "${rest} - 1")
string(SUBSTRING ${name}x 0 ${rest} name)
string(APPEND folder /${name})
file(MAKE_DIRECTORY ${folder})

set(ENV{TMPDIR} ${folder})
execute_process(COMMAND ${PROGRAM} OUTPUT_QUIET ERROR_VARIABLE error
  RESULT_VARIABLE result)
file(GLOB left ${folder}/*)
file(REMOVE_RECURSE ${SCRATCH})
if(NOT result EQUAL 1 OR NOT error MATCHES "too long")
  message(FATAL_ERROR "${PROGRAM} ended with ${result}: ${error}")
endif()
if(left)
  message(FATAL_ERROR "${PROGRAM} has left ${left}")
endif()
