# The three kinds of target, so that every folder's file stays a list.

add_library(bimbackup_flags INTERFACE)
target_include_directories(bimbackup_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(bimbackup_flags INTERFACE
  -Wall -Wextra -Werror -Wno-sign-compare -Wnon-virtual-dtor
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety -Wno-deprecated-builtins
    -Wno-unknown-warning-option>)

# bimbackup_library(NAME SOURCES ... [DEPS ...]): a static library.
function(bimbackup_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE bimbackup_flags)
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
endfunction()

# bimbackup_binary(NAME SOURCES ... [DEPS ...]): an executable in bin/.
function(bimbackup_binary name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} bimbackup_flags)
endfunction()

# bimbackup_test(NAME SOURCES ... [DEPS ...] [TIMEOUT seconds] [LABELS ...]):
# a GoogleTest executable in test/, known to ctest.
function(bimbackup_test name)
  if(NOT BIMBACKUP_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} bimbackup_flags
    GTest::gmock GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()
