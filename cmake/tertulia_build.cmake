# SPDX-License-Identifier: BSD-3-Clause
#
# How a room, a program and the package are declared. The CMakeLists.txt files
# only say what there is.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

if(PROJECT_IS_TOP_LEVEL)
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT CMAKE_BUILD_TYPE AND NOT multi_config)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  # The largest program is linked in half the time. With a sanitizer gold warns.
  find_program(TERTULIA_GOLD ld.gold)
  if(TERTULIA_GOLD AND NOT TERTULIA_SANITIZE)
    add_link_options(-fuse-ld=gold)
  endif()
  find_program(TERTULIA_CCACHE ccache)
  if(TERTULIA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Without the sloppiness ccache gives up as soon as it sees a precompiled
    # header.
    set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      ${TERTULIA_CCACHE})
  endif()
endif()

set(CMAKE_CXX_EXTENSIONS OFF)

# tertulia_needs(<arguments of find_package>): finds a package, and makes the
# installed tertulia-config.cmake find it again.
macro(tertulia_needs)
  find_package(${ARGV} REQUIRED)
  set(tertulia_need ${ARGV})
  list(JOIN tertulia_need " " tertulia_need)
  string(APPEND TERTULIA_NEEDS "find_dependency(${tertulia_need})\n")
endmacro()

# tertulia_needs_when_named(<component> <arguments of find_package>): the same
# for what is not looked for unless a user names the component, such as a test
# framework, of which the user may build another version.
macro(tertulia_needs_when_named component)
  find_package(${ARGN} REQUIRED)
  set(tertulia_need ${ARGN})
  list(JOIN tertulia_need " " tertulia_need)
  string(APPEND TERTULIA_NEEDS
    "if(\"${component}\" IN_LIST tertulia_FIND_COMPONENTS)\n"
    "  find_dependency(${tertulia_need})\nendif()\n")
endmacro()

# tertulia_needs_for(<component> <arguments of find_package>): the same for what
# is used, if it is there, by a user who names no component.
macro(tertulia_needs_for component)
  tertulia_needs_when_named(${component} ${ARGN})
  string(APPEND TERTULIA_NEEDS
    "if(NOT \"${component}\" IN_LIST tertulia_FIND_COMPONENTS)\n"
    "  find_package(${tertulia_need} QUIET)\nendif()\n")
endmacro()

# Warnings and memory of the compiler.
function(tertulia_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic $<$<BOOL:${TERTULIA_WERROR}>:-Werror>
    # g++ spends 4 % of its time for the largest units in freeing memory that
    # it may keep: with this it needs an eighth more memory.
    $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1048576>
    # g++ 12 warns of "literal" + std::string (GCC bug 105651).
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    # To g++ a source within a unity build is a header, whose types need names
    # that others can see.
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wno-subobject-linkage>)
endfunction()

# tertulia_sanitize(<target> <scope>): the sanitizers of TERTULIA_SANITIZE.
function(tertulia_sanitize target scope)
  if(TERTULIA_SANITIZE)
    list(JOIN TERTULIA_SANITIZE "," sanitizers)
    # CAF's headers bind references to null, and fail other checks that clang
    # can leave out for them; clang 14 cannot check the type of functions that
    # are coroutines. The check of alignment is a third of the code, and most
    # accesses of x86 need none. "undefined" would switch the checks on again,
    # so the order matters.
    set(flags -fsanitize=${sanitizers} -fno-sanitize=null,alignment
      $<$<CXX_COMPILER_ID:GNU>:-fno-sanitize=vptr>
      $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>
      $<$<CXX_COMPILER_ID:Clang>:-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/sanitizers.ignore>)
    target_compile_options(${target} ${scope} ${flags} -fno-omit-frame-pointer)
    target_link_options(${target} ${scope} ${flags})
  endif()
endfunction()

# What every target of ours has in common, be it a room or a program.
function(tertulia_common target)
  cmake_parse_arguments(PARSE_ARGV 1 common "WITHOUT_CAF;PROGRAM" "" "")
  tertulia_warnings(${target})
  if(NOT TERTULIA_PCH OR common_WITHOUT_CAF)
    return()
  endif()
  set(libraries CAF::core nlohmann_json::nlohmann_json)
  set(headers
    <algorithm> <chrono> <coroutine> <functional> <map> <memory> <optional>
    <string> <string_view> <unordered_map> <utility> <variant> <vector>
    <caf/all.hpp> <nlohmann/json.hpp>)
  if(common_PROGRAM AND tertulia_many_programs)
    list(APPEND libraries ${tertulia_seen_by_programs})
    list(APPEND headers
      <tertulia/ai/chat_agent.hpp> <tertulia/ai/define_model.hpp>
      <tertulia/ai/prompt_agent.hpp> <tertulia/ai/session_flow.hpp>
      <tertulia/define_agent.hpp> <tertulia/describe.hpp>
      <tertulia/memory_store.hpp> <tertulia/runtime.hpp>)
  endif()
  tertulia_precompile(${target} "${libraries}" "${headers}")
endfunction()

# One precompiled header serves all rooms, and another one the folders of programs
# whose many units use the whole library (tertulia_many_programs), as far as they
# are optimized alike. For the rooms clang takes 3 s, and saves 1.5 s per unit
# that includes CAF; for the programs it takes 6 s, and saves 1.6 s more per unit.
# g++ takes twice as long, and saves 0.7 s and 1.1 s. Adding the headers of
# GoogleTest and rapidcheck for the tests saved nothing. Each belongs to a target
# of its own, because g++ refuses one that was made with a macro that a user
# lacks.
function(tertulia_precompile target libraries headers)
  get_property(options DIRECTORY PROPERTY COMPILE_OPTIONS)
  string(MD5 alike "${options};${libraries}")
  set(precompiled tertulia_headers_${alike})
  if(NOT TARGET ${precompiled})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers.cpp CONTENT "")
    add_library(${precompiled} OBJECT ${PROJECT_BINARY_DIR}/headers.cpp)
    target_link_libraries(${precompiled} PRIVATE ${libraries})
    target_compile_features(${precompiled} PRIVATE cxx_std_20)
    tertulia_warnings(${precompiled})
    tertulia_sanitize(${precompiled} PRIVATE)
    target_precompile_headers(${precompiled} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${precompiled})
endfunction()

# All that gets installed, and nothing else.
add_custom_target(tertulia_rooms)

# tertulia_first_includes(<variable>): the headers that a public header includes
# first. Who compiles that one alone has compiled them alone, too.
function(tertulia_first_includes variable)
  set(rooms messages stores actors runtime)
  list(TRANSFORM rooms PREPEND ${PROJECT_SOURCE_DIR}/)
  list(TRANSFORM rooms APPEND /*.hpp)
  file(GLOB_RECURSE headers ${rooms})
  list(FILTER headers INCLUDE REGEX "/tertulia/")
  list(FILTER headers EXCLUDE REGEX "/detail/")
  set(result)
  foreach(header IN LISTS headers)
    file(STRINGS ${header} include REGEX "^#include " LIMIT_COUNT 1)
    if(include MATCHES "<(tertulia/.*)>")
      list(APPEND result ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set(${variable} ${result} PARENT_SCOPE)
endfunction()

if(CMAKE_VERIFY_INTERFACE_HEADER_SETS)
  tertulia_first_includes(TERTULIA_FIRST_INCLUDES)
endif()

# tertulia_room(<name> [WITHOUT_CAF] [OBJECTS] SOURCES <file>...
#               [SEES <room>...] [PARTS_OF <room>...]
#               [LINKS [PUBLIC <target>...] [PRIVATE <target>...]])
#
# Declares tertulia::<name>, a folder of a room. Headers under tertulia/ are
# installed; those outside a folder detail/ are public, so each of them can be
# included alone, which `make check` verifies. The folder itself is on the
# include path of its own sources, and of those of a folder that names it in
# PARTS_OF. A folder without sources is an interface library. It can only see
# folders that are declared before it, so there is no circle. It links CAF unless
# WITHOUT_CAF is given; such a folder is compiled without the precompiled header,
# which contains CAF. With OBJECTS all of it is linked, whether or not anything
# refers to it, as tests need that register themselves.
function(tertulia_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "WITHOUT_CAF;OBJECTS" ""
    "SOURCES;SEES;PARTS_OF;LINKS")
  set(options)
  set(caf CAF::core)
  if(room_WITHOUT_CAF)
    set(options WITHOUT_CAF)
    set(caf)
  endif()
  set(target tertulia_${name})
  set(roots ${CMAKE_CURRENT_SOURCE_DIR})
  foreach(seen IN LISTS room_SEES)
    if(NOT TARGET tertulia::${seen})
      message(FATAL_ERROR "${name} sees ${seen}, which is not above it")
    endif()
    get_property(further GLOBAL PROPERTY tertulia_roots_of_${seen})
    list(APPEND roots ${further})
  endforeach()
  list(REMOVE_DUPLICATES roots)
  set_property(GLOBAL PROPERTY tertulia_roots_of_${name} ${roots})
  set_property(GLOBAL APPEND PROPERTY tertulia_roots ${CMAKE_CURRENT_SOURCE_DIR})
  list(TRANSFORM room_SEES PREPEND tertulia::)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS tertulia/*.hpp)
  set(verified)
  set(others)
  foreach(header IN LISTS headers)
    cmake_path(RELATIVE_PATH header OUTPUT_VARIABLE included)
    if(included MATCHES "/detail/" OR included IN_LIST TERTULIA_FIRST_INCLUDES)
      list(APPEND others ${header})
    else()
      list(APPEND verified ${header})
    endif()
  endforeach()

  if(room_SOURCES)
    set(scope PUBLIC)
    set(kind STATIC)
    if(room_OBJECTS)
      set(kind OBJECT)
    endif()
    add_library(${target} ${kind} ${room_SOURCES})
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    foreach(whole IN LISTS room_PARTS_OF)
      get_target_property(parts tertulia_${whole} SOURCE_DIR)
      target_include_directories(${target} PRIVATE ${parts})
    endforeach()
    tertulia_common(${target} ${options})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
    list(TRANSFORM room_LINKS REPLACE "^(PUBLIC|PRIVATE)$" INTERFACE)
  endif()
  add_library(tertulia::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})

  target_compile_features(${target} ${scope} cxx_std_20)
  target_sources(${target} ${scope}
    FILE_SET HEADERS
      BASE_DIRS ${CMAKE_CURRENT_SOURCE_DIR} FILES ${verified}
    FILE_SET others TYPE HEADERS
      BASE_DIRS ${CMAKE_CURRENT_SOURCE_DIR} FILES ${others})
  set_target_properties(${target} PROPERTIES
    INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)
  target_link_libraries(${target} ${scope} ${caf} ${room_SEES} ${room_LINKS})

  tertulia_sanitize(${target} ${scope})
  add_dependencies(tertulia_rooms ${target})
  install(TARGETS ${target} EXPORT tertulia-targets
    OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/tertulia
    FILE_SET HEADERS FILE_SET others)
endfunction()

# tertulia_program(<name> <source>...): an executable that sees the whole
# library.
set(tertulia_seen_by_programs tertulia::offline_model tertulia::openai_model
  tertulia::memory_store tertulia::sqlite_store tertulia::remote_store
  tertulia::tls)
function(tertulia_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE ${tertulia_seen_by_programs})
  list(LENGTH ARGN sources)
  if(sources EQUAL 1)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  tertulia_common(${name} PROGRAM)
endfunction()

# tertulia_serves(<program>): gives a program that answers many calls at once
# tcmalloc. The calls need more objects of one size than glibc keeps for a
# thread, which then searches and joins its lists for each: a sixth of the time
# of a call. A sanitizer has an allocator of its own.
function(tertulia_serves program)
  find_library(TERTULIA_TCMALLOC
    NAMES tcmalloc_minimal libtcmalloc_minimal.so.4
    DOC "Allocator of the programs that serve; empty for that of the C library")
  if(TERTULIA_TCMALLOC AND NOT TERTULIA_SANITIZE)
    target_link_libraries(${program} PRIVATE ${TERTULIA_TCMALLOC})
  endif()
endfunction()

# tertulia_optimize(<level>): for the programs of a folder that are built for
# longer than they run, as a release; the library that they use is optimized. g++
# 12 needs 0.6 of the time at level 1, and a quarter at level 0.
macro(tertulia_optimize level)
  if(CMAKE_BUILD_TYPE MATCHES "^Rel")
    add_compile_options(-O${level})
    if(${level} GREATER 0)
      # At -O1 g++ 12 takes the length of a literal for what a comparison reads,
      # and loses track of whether an optional has a value.
      add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread>
        $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    endif()
  endif()
endmacro()

# Installs what find_package(tertulia) reads.
function(tertulia_install_package)
  set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tertulia)
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/tertulia-config.cmake.in tertulia-config.cmake
    INSTALL_DESTINATION ${config_dir} NO_SET_AND_CHECK_MACRO)
  # Below 1.0 a new minor version may break its users.
  write_basic_package_version_file(tertulia-config-version.cmake
    COMPATIBILITY SameMinorVersion)
  install(EXPORT tertulia-targets NAMESPACE tertulia::
    DESTINATION ${config_dir})
  install(FILES
    ${CMAKE_CURRENT_BINARY_DIR}/tertulia-config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/tertulia-config-version.cmake
    ${PROJECT_SOURCE_DIR}/cmake/FindCAF.cmake
    ${PROJECT_SOURCE_DIR}/cmake/FindCjose.cmake
    ${PROJECT_SOURCE_DIR}/cmake/FindNettle.cmake
    ${PROJECT_SOURCE_DIR}/cmake/FindPrometheusCore.cmake
    ${PROJECT_SOURCE_DIR}/cmake/FindUUID.cmake
    ${PROJECT_SOURCE_DIR}/cmake/tertulia_find_library.cmake
    DESTINATION ${config_dir})
endfunction()
