# stoker_module(NAME [DEPENDS module...] [LIBS target...] [TEST_DEPENDS module...] [TEST_LIBS target...]
#               [TEST_LABELS label...] [PCH_OFF] [PURE])
#
# One call makes a folder what every folder here is:
#   *.cpp              static library stoker_NAME, alias stoker::NAME (INTERFACE where there are only headers)
#   *_test.cpp         GoogleTest program NAME_test, each test known to ctest
#   *_real_test.cpp    the same as NAME_real_test, with ctest label `real` (needs real servers or devices)
#   *_bench.cpp        Google Benchmark program NAME_bench; none under a sanitizer
#   *_fuzz.cpp         one libFuzzer program each, under the asan-ubsan preset only
# PURE: no threads, locks or atomics, which tools/check_includes.py sees to; so the thread sanitizer has nothing to find
# in its tests and they are left out there.
# Module names in DEPENDS are checked by tools/check_includes.py against the one table of directions.
include(GoogleTest)

add_custom_target(stoker_fuzzers)   # every *_fuzz
add_custom_target(stoker_generated) # sources that the build makes; clang-tidy needs them, and nothing else

# The one precompiled header of the project; every target that has not PCH_OFF takes it from here.
option(STOKER_PCH "precompile the common headers" ON)
add_library(stoker_pch STATIC ${CMAKE_SOURCE_DIR}/cmake/pch.cpp)
target_link_libraries(stoker_pch PUBLIC stoker_options)
if(STOKER_PCH)
  target_precompile_headers(stoker_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.h)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang$<SEMICOLON>-fno-pch-timestamp>)
  else()
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()

function(stoker_use_pch target)
  if(STOKER_PCH)
    target_precompile_headers(${target} REUSE_FROM stoker_pch)
  endif()
endfunction()

# stoker_test(TARGET SOURCES file... [DEPENDS module...] [LIBS target...] [LABELS label...] [TIMEOUT seconds] [PCH_OFF]
#             [ALONE])
# A GoogleTest program. Labels with a meaning: real (needs real servers or devices: only ./dev test --real), noasan and
# notsan (left out under that sanitizer): what a sanitizer leaves out is not built there either.
# Tests find what was built through STOKER_BINARY_DIR (bin/stoker, lib/libstoker_sim_nvml.so).
function(stoker_test target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PCH_OFF;ALONE" "TIMEOUT" "SOURCES;DEPENDS;LIBS;LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  list(TRANSFORM arg_DEPENDS PREPEND stoker_)
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE stoker_options ${arg_DEPENDS} ${arg_LIBS}
    GTest::gtest GTest::gmock GTest::gtest_main rapidcheck_gtest)
  target_compile_definitions(${target} PRIVATE
    STOKER_SOURCE_DIR="${CMAKE_SOURCE_DIR}" STOKER_BINARY_DIR="${CMAKE_BINARY_DIR}")
  if(NOT arg_PCH_OFF)
    stoker_use_pch(${target})
  endif()
  set(left_out "")
  if(STOKER_SANITIZE MATCHES thread)
    set(left_out "real|notsan")
  elseif(STOKER_SANITIZE)
    set(left_out "real|noasan")
  endif()
  if(left_out AND "${arg_LABELS}" MATCHES "${left_out}")
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  set(properties TIMEOUT ${arg_TIMEOUT})
  if(arg_LABELS)
    # One label, "real+notsan": gtest_discover_tests loses a list, and ctest's -L and -LE match parts.
    list(JOIN arg_LABELS "+" labels)
    list(APPEND properties LABELS ${labels})
  endif()
  if(arg_ALONE)
    list(APPEND properties RUN_SERIAL ON)
  endif()
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()

function(stoker_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PCH_OFF;PURE" "" "DEPENDS;LIBS;TEST_DEPENDS;TEST_LIBS;TEST_LABELS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "stoker_module(${name}): don't know what to do with '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  file(GLOB tests CONFIGURE_DEPENDS *_test.cpp)
  file(GLOB real_tests CONFIGURE_DEPENDS *_real_test.cpp)
  file(GLOB fuzzers CONFIGURE_DEPENDS *_fuzz.cpp)
  file(GLOB benches CONFIGURE_DEPENDS *_bench.cpp)
  list(REMOVE_ITEM sources "" ${tests} ${fuzzers} ${benches})
  list(REMOVE_ITEM tests "" ${real_tests})
  set(pch_off)
  if(arg_PCH_OFF)
    set(pch_off PCH_OFF)
  endif()
  if(arg_PURE)
    list(APPEND arg_TEST_LABELS notsan)
  endif()

  # Plain names, not the stoker:: aliases: a module may be named before its folder is written.
  list(TRANSFORM arg_DEPENDS PREPEND stoker_ OUTPUT_VARIABLE depends)
  if(sources)
    add_library(stoker_${name} STATIC ${sources})
    target_link_libraries(stoker_${name} PUBLIC stoker_options ${depends} ${arg_LIBS})
    if(NOT arg_PCH_OFF)
      stoker_use_pch(stoker_${name})
    endif()
  else()
    add_library(stoker_${name} INTERFACE)
    target_link_libraries(stoker_${name} INTERFACE stoker_options ${depends} ${arg_LIBS})
  endif()
  add_library(stoker::${name} ALIAS stoker_${name})

  set(test_with DEPENDS ${name} ${arg_TEST_DEPENDS} LIBS ${arg_TEST_LIBS} ${pch_off})
  if(tests)
    stoker_test(${name}_test SOURCES ${tests} ${test_with} LABELS ${arg_TEST_LABELS})
  endif()
  if(real_tests)
    stoker_test(${name}_real_test SOURCES ${real_tests} ${test_with} LABELS real ${arg_TEST_LABELS} TIMEOUT 600)
  endif()
  if(benches)
    add_executable(${name}_bench ${benches})
    if(STOKER_SANITIZE)
      set_target_properties(${name}_bench PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    target_link_libraries(${name}_bench PRIVATE stoker_${name} benchmark::benchmark benchmark::benchmark_main)
    target_compile_definitions(${name}_bench PRIVATE
      STOKER_SOURCE_DIR="${CMAKE_SOURCE_DIR}" STOKER_BINARY_DIR="${CMAKE_BINARY_DIR}")
  endif()
  if(STOKER_FUZZ)
    foreach(source IN LISTS fuzzers)
      cmake_path(GET source STEM fuzzer)
      add_executable(${fuzzer} ${source})
      target_link_libraries(${fuzzer} PRIVATE stoker_${name})
      target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
      add_dependencies(stoker_fuzzers ${fuzzer})
    endforeach()
  endif()
endfunction()
