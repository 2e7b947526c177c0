# ccache and precompiled headers need each other's help: ccache has to be told that a PCH may stand
# for its text (the sloppiness), and that paths below the source folder are to be hashed as relative,
# so that a second clone hits the same entries.
option(STOKER_CCACHE "use ccache where it is installed" ON)
find_program(STOKER_CCACHE_PROGRAM ccache)
if(STOKER_CCACHE AND STOKER_CCACHE_PROGRAM)
  set(launcher /usr/bin/env
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
    CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros
    ${STOKER_CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
