# stoker_ptx_modules(TARGET FILE)
#
# For each row STOKER_MODULE(name, "target", "version", since, exact) of FILE: kernels/<name>.cu becomes PTX by clang, with
# no CUDA toolkit; its .version and .target must be those of the row; and the text is embedded as ptx_<name>.
find_program(STOKER_PTX_COMPILER clang++-19 REQUIRED)

function(stoker_ptx_modules target file)
  file(STRINGS ${file} rows REGEX "^STOKER_MODULE\\(")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  foreach(row IN LISTS rows)
    if(NOT row MATCHES "^STOKER_MODULE\\(([a-z0-9_]+), \"(sm_[0-9a]+)\", \"([0-9]+)\\.([0-9]+)\"")
      message(FATAL_ERROR "${file}: not a row: ${row}")
    endif()
    set(name ${CMAKE_MATCH_1})
    set(architecture ${CMAKE_MATCH_2})
    set(version ${CMAKE_MATCH_3}.${CMAKE_MATCH_4})
    set(feature +ptx${CMAKE_MATCH_3}${CMAKE_MATCH_4})
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/kernels/${name}.cu)
    set(ptx ${CMAKE_CURRENT_BINARY_DIR}/ptx/${name}.ptx)
    add_custom_command(OUTPUT ${ptx}
      COMMAND ${STOKER_PTX_COMPILER} -x cuda --cuda-device-only --cuda-path=/nonexistent -nocudainc -nocudalib
        --cuda-gpu-arch=${architecture} --cuda-feature=${feature} -std=c++20 -O3 -ffp-contract=off -Wall -Wextra -Werror
        -I${CMAKE_SOURCE_DIR}/src -MD -MF ${ptx}.d -MT ${ptx} -S -o ${ptx}.unchecked ${source}
      COMMAND ${CMAKE_COMMAND} -DPTX=${ptx}.unchecked -DOUT=${ptx} -DVERSION=${version} -DTARGET=${architecture}
        -P ${CMAKE_SOURCE_DIR}/cmake/check_ptx.cmake
      DEPENDS ${source} ${file} ${CMAKE_SOURCE_DIR}/cmake/check_ptx.cmake
      DEPFILE ${ptx}.d
      COMMENT "PTX ${name} for ${architecture}"
      VERBATIM)
    stoker_embed(${target} ptx_${name} ${ptx})
    list(APPEND all ${ptx})
  endforeach()
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/ptx)
  add_custom_target(${target}_ptx DEPENDS ${all})
  add_dependencies(${target} ${target}_ptx)
endfunction()
