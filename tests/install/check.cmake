# SPDX-License-Identifier: BSD-3-Clause
#
# Installs the build, then configures, builds and runs the project beside this
# file against nothing but the installed package.

set(prefix ${SCRATCH}/prefix)
file(REMOVE_RECURSE ${SCRATCH})

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${SCRATCH}/build
  -G ${GENERATOR}
  -D CMAKE_CXX_COMPILER=${COMPILER}
  # An application need not be built as the library was, nor be optimized.
  -D CMAKE_BUILD_TYPE=Debug
  -D CMAKE_PREFIX_PATH=${prefix}
  # Neither the tree nor another installation may help out.
  -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(${SCRATCH}/build/outside)
run(${SCRATCH}/build/outside_store)
