# The three kinds of target, so that every folder's file stays a list.

add_library(bimbackup_flags INTERFACE)
target_include_directories(bimbackup_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(bimbackup_flags INTERFACE
  -Wall -Wextra -Werror -Wno-sign-compare -Wnon-virtual-dtor
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety -Wno-deprecated-builtins
    -Wno-unknown-warning-option>)

# Fuzzers need clang's libFuzzer, and are worth their time with ASan alone.
if(BIMBACKUP_BUILD_TESTS AND CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND
   CMAKE_CXX_FLAGS MATCHES "fsanitize=address")
  set(BIMBACKUP_FUZZERS ON)
  add_custom_target(fuzzers)
  file(WRITE ${CMAKE_BINARY_DIR}/fuzz/commands "")
endif()

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

# bimbackup_allocator(BINARY): tcmalloc instead of glibc's malloc, for a
# service whose threads make many small things and hand them to each other:
# crawl and plan took 10 to 17 % more CPU with glibc's. Sanitizers bring their
# own.
function(bimbackup_allocator name)
  if(NOT CMAKE_CXX_FLAGS MATCHES "fsanitize")
    find_library(TCMALLOC libtcmalloc_minimal.so.4 REQUIRED)
    target_link_libraries(${name} PRIVATE ${TCMALLOC})
  endif()
endfunction()

# bimbackup_apart(SOURCE ...): sources that a build with CMAKE_UNITY_BUILD does
# not join with the others of their target, since names in their unnamed
# namespaces stand in another source, too.
function(bimbackup_apart)
  set_source_files_properties(${ARGN} PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON)
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
  # Tests take longer to compile than to run; what they test is optimised as
  # the preset says.
  target_compile_options(${name} PRIVATE -O0)
  add_test(NAME ${name} COMMAND ${name})
  set_property(GLOBAL APPEND PROPERTY BIMBACKUP_TESTS ${name})
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()

# bimbackup_fuzzer(NAME SOURCES ... [DEPS ...] [SECONDS n] [MAX_LEN bytes]):
# a libFuzzer target in test/, where the compiler has it: in the asan build.
# ctest runs it for `SECONDS` (10) from corpus/NAME beside its sources; what
# it learns stays in fuzz/NAME of the build folder. tests/fuzz.sh runs all of
# them for longer.
function(bimbackup_fuzzer name)
  if(NOT BIMBACKUP_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "SECONDS;MAX_LEN" "SOURCES;DEPS" ${ARGN})
  if(NOT ARG_SECONDS)
    set(ARG_SECONDS 10)
  endif()
  if(NOT ARG_MAX_LEN)
    set(ARG_MAX_LEN 4096)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} bimbackup_flags)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set(learned ${CMAKE_BINARY_DIR}/fuzz/${name})
  file(MAKE_DIRECTORY ${learned})
  set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  if(NOT EXISTS ${corpus})
    set(corpus)
  endif()
  set(command ${name} -max_len=${ARG_MAX_LEN} -timeout=20
    -artifact_prefix=${learned}- ${learned} ${corpus})
  add_test(NAME ${name} COMMAND ${command} -max_total_time=${ARG_SECONDS})
  math(EXPR limit "${ARG_SECONDS} + 90")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${limit} LABELS fuzz)
  # What tests/fuzz.sh reads: the command of each, one a line.
  list(JOIN command " " line)
  file(APPEND ${CMAKE_BINARY_DIR}/fuzz/commands "test/${line}\n")
  add_dependencies(fuzzers ${name})
endfunction()

# bimbackup_fuzzed(LIBRARY ...): lets fuzzers see which code of these they
# have reached.
function(bimbackup_fuzzed)
  if(BIMBACKUP_FUZZERS)
    foreach(library IN LISTS ARGN)
      target_compile_options(${library} PRIVATE -fsanitize=fuzzer-no-link)
    endforeach()
  endif()
endfunction()

# bimbackup_links_grpc(TARGET RESULT): whether it does, directly or not.
function(bimbackup_links_grpc target result)
  get_property(known GLOBAL PROPERTY BIMBACKUP_LINKS_GRPC_${target})
  if(NOT "${known}" STREQUAL "")
    set(${result} ${known} PARENT_SCOPE)
    return()
  endif()
  set(found FALSE)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  foreach(library IN LISTS libraries)
    if(library STREQUAL protos OR library MATCHES "^gRPC::")
      set(found TRUE)
    elseif(TARGET ${library})
      get_target_property(imported ${library} IMPORTED)
      get_target_property(type ${library} TYPE)
      if(NOT imported AND NOT type STREQUAL INTERFACE_LIBRARY)
        bimbackup_links_grpc(${library} found)
      endif()
    endif()
    if(found)
      break()
    endif()
  endforeach()
  set_property(GLOBAL PROPERTY BIMBACKUP_LINKS_GRPC_${target} ${found})
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# bimbackup_collect_tsan_tests(): the target tsan_tests, which builds the tests
# that link no gRPC and have something to race about, and the file tsan_tests,
# a regular expression of their names. To be called last.
function(bimbackup_collect_tsan_tests)
  # What starts no thread of its own; the emulator, a double that takes as
  # long to build as all the rest; and what shows the same threads as another
  # test does.
  set(left_out
    bim360_client_emulator_test bim360_emulator_http_test bim360_emulator_test
    file_scan_bench_test file_scan_reader_large_file_test http_tls_test
    rebuild_test retention_test snapshot_diff_test snapshot_test
    snapshots_test storage_format_test verify_test)
  add_custom_target(tsan_tests)
  get_property(tests GLOBAL PROPERTY BIMBACKUP_TESTS)
  set(names)
  foreach(test IN LISTS tests)
    bimbackup_links_grpc(${test} links_grpc)
    if(NOT links_grpc AND NOT test IN_LIST left_out)
      list(APPEND names ${test})
      add_dependencies(tsan_tests ${test})
    endif()
  endforeach()
  list(JOIN names "|" names)
  file(WRITE ${CMAKE_BINARY_DIR}/tsan_tests "^(${names})$\n")
endfunction()
