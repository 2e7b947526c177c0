# stoker_embed(TARGET SYMBOL FILE)
#
# Puts FILE into TARGET's read-only data by .incbin, which costs the compiler nothing, and makes a header
# "embedded/SYMBOL.h" with `std::string_view stoker::embedded::SYMBOL()`. The view lives as long as the program.
function(stoker_embed target symbol file)
  if(NOT symbol MATCHES "^[a-z_][a-z0-9_]*$")
    message(FATAL_ERROR "stoker_embed: '${symbol}' is not a snake_case name")
  endif()
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/embedded_files)
  set(assembly ${folder}/${symbol}.S)
  set(STOKER_EMBED_SYMBOL ${symbol})
  set(STOKER_EMBED_FILE ${file})
  configure_file(${CMAKE_SOURCE_DIR}/cmake/embed.S.in ${assembly} @ONLY)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/embed.h.in ${folder}/embedded/${symbol}.h @ONLY)
  set_source_files_properties(${assembly} PROPERTIES OBJECT_DEPENDS ${file})
  target_sources(${target} PRIVATE ${assembly})
  target_include_directories(${target} PUBLIC ${folder})
endfunction()
