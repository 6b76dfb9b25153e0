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
  -D CMAKE_CXX_FLAGS_DEBUG=
  -D CMAKE_PREFIX_PATH=${prefix}
  -D FURTHER_COMPONENTS=${FURTHER_COMPONENTS}
  # Neither the tree nor another installation may help out.
  -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(${SCRATCH}/build/outside)

# A program with bidi flows only needs none of the libraries of the components
# that it does not name.
execute_process(COMMAND readelf -d ${SCRATCH}/build/outside
  OUTPUT_VARIABLE needed COMMAND_ERROR_IS_FATAL ANY)
if(NOT needed MATCHES "libcaf_core")
  message(FATAL_ERROR "no library of CAF is among the needed ones: ${needed}")
endif()
if(needed MATCHES "lib(ssl|crypto|sqlite3|curl|edit|unistring)[^]]*")
  message(FATAL_ERROR "a program with bidi flows needs ${CMAKE_MATCH_0}")
endif()

run(${SCRATCH}/build/outside_store)
run(${SCRATCH}/build/outside_test)
