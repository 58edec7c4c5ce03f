# Fuzz targets: fuzz/NAME_fuzz.cc is an executable build/<preset>/fuzz/NAME_fuzz, its corpus is fuzz/corpus/NAME.
# The target `fuzzers` builds them all; where the preset has no libFuzzer, there are none.

add_custom_target(fuzzers)
if(NOT SONDE_FUZZ)
  return()
endif()

file(GLOB fuzz_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/fuzz/*_fuzz.cc")
foreach(source IN LISTS fuzz_sources)
  get_filename_component(name "${source}" NAME_WE)
  add_executable(${name} EXCLUDE_FROM_ALL "${source}")
  target_link_libraries(${name} PRIVATE sonde_cmd sonde_warnings)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  target_precompile_headers(${name} REUSE_FROM ${SONDE_PCH_OWNER})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
  add_dependencies(fuzzers ${name})
endforeach()
