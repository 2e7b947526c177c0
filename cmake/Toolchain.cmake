# Language, warnings, output folders and linker for every target of ours.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# -fPIC for all, and not CMake's -fPIE for programs: one precompiled header then serves every target.
add_compile_options(-fPIC)

set(STOKER_SANITIZE "" CACHE STRING "value of -fsanitize= for everything, e.g. address,undefined")
if(STOKER_SANITIZE)
  add_compile_options(-fsanitize=${STOKER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${STOKER_SANITIZE})
endif()

option(STOKER_COVERAGE "count executed lines (gcov)" OFF)
if(STOKER_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()

option(STOKER_FUZZ "build *_fuzz.cpp as libFuzzer programs (clang only)" OFF)
if(STOKER_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(STOKER_MOLD mold)
if(STOKER_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Everything of ours links this: warnings are errors in our files only, since system headers are -isystem.
add_library(stoker_options INTERFACE)
target_include_directories(stoker_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(stoker_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual
  -Wimplicit-fallthrough -Wundef -Wvla -Wdouble-promotion -Winvalid-pch -Wno-error=invalid-pch -Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(stoker_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wthread-safety -Wthread-safety-beta -Wfloat-conversion -Wno-missing-field-initializers>)
else()
  # Designated initialisers that leave the rest to its defaults are our way to write rows of tables.
  target_compile_options(stoker_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wfloat-conversion -Wlogical-op -Wduplicated-cond -Wno-missing-field-initializers>)
  # GCC 12 finds these inside std::string where nothing is wrong, at -O2 (GCC bugs 105329, 105651).
  target_compile_options(stoker_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds -Wno-restrict>)
endif()
