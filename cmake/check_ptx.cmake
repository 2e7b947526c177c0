# cmake -DPTX=file -DOUT=file -DVERSION=6.3 -DTARGET=sm_75 -P check_ptx.cmake
# Refuses a module that asks for a newer driver or another card than its row says, else puts it in its place.
file(STRINGS ${PTX} version REGEX "^\\.version ")
file(STRINGS ${PTX} target REGEX "^\\.target ")
if(NOT version STREQUAL ".version ${VERSION}" OR NOT target STREQUAL ".target ${TARGET}")
  message(FATAL_ERROR "${PTX} says '${version}' and '${target}'; its row says ${VERSION} and ${TARGET}")
endif()
file(RENAME ${PTX} ${OUT})
