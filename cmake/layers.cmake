# Layers: a layer's sources are src/<name>/*.cc, its tests src/<name>/*_test.cc, and it may include and link
# only the layers named on its line. A dependency on a layer that is not yet defined is refused here; an
# #include that the lines don't allow is refused by tools/check_layers.py, which reads this same list.

set(SONDE_LAYERS "" CACHE INTERNAL "layers in order of definition")
set(SONDE_PCH_OWNER "" CACHE INTERNAL "first layer: owner of the precompiled standard headers")

# layer(NAME dependency-layer... [LIBS library...])
function(layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBS")
  set(deps ${arg_UNPARSED_ARGUMENTS})
  foreach(dep IN LISTS deps)
    if(NOT dep IN_LIST SONDE_LAYERS)
      message(FATAL_ERROR "layer ${name}: depends on '${dep}', which is not a layer below it")
    endif()
  endforeach()

  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${name}/*.cc")
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test|main)\\.cc$")

  set(target sonde_${name})
  add_library(${target} STATIC ${sources} "${CMAKE_SOURCE_DIR}/cmake/layer_anchor.cc")
  target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(${target} PRIVATE sonde_warnings)
  list(TRANSFORM deps PREPEND sonde_ OUTPUT_VARIABLE dep_targets)
  target_link_libraries(${target} PUBLIC ${dep_targets} ${arg_LIBS})
  if(SONDE_PCH_OWNER)
    target_precompile_headers(${target} REUSE_FROM ${SONDE_PCH_OWNER})
  else()
    target_precompile_headers(${target} PRIVATE "${CMAKE_SOURCE_DIR}/cmake/pch.h")
    set(SONDE_PCH_OWNER ${target} CACHE INTERNAL "")
  endif()

  if(tests AND SONDE_TESTS)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE ${target} sonde_warnings GTest::gmock GTest::gtest_main)
    target_precompile_headers(${name}_test REUSE_FROM ${SONDE_PCH_OWNER})
    add_test(NAME unit.${name} COMMAND ${name}_test WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  endif()

  list(APPEND SONDE_LAYERS ${name})
  set(SONDE_LAYERS ${SONDE_LAYERS} CACHE INTERNAL "")
endfunction()
