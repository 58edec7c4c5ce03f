# Layers: a layer's sources are the .cc files below src/<name>, in its rooms (subfolders) too; its tests are those named *_test.cc.
# It may include and link only the layers named on its line. A dependency on a layer that is not yet defined is rejected here; an
# #include that the lines don't allow is rejected by tools/check_layers.py, which reads this same list.

set(SONDE_LAYERS "" CACHE INTERNAL "layers in order of definition")
set(SONDE_PCH_OWNER "" CACHE INTERNAL "first layer: owner of the precompiled standard headers")

# Tests are compiled more often than they are run: without optimisation, and with GoogleTest among the precompiled headers, they
# compile in half of the time that the layers' flags would take. (The sanitizer builds keep their own level.)
if(SONDE_TESTS)
  add_library(test_headers OBJECT "${CMAKE_SOURCE_DIR}/cmake/layer_anchor.cc")
  target_link_libraries(test_headers PUBLIC sonde_warnings fmt::fmt GTest::gmock GTest::gtest_main)
  target_compile_options(test_headers PUBLIC $<$<CONFIG:RelWithDebInfo>:-O0>)
  target_precompile_headers(test_headers PRIVATE "${CMAKE_SOURCE_DIR}/cmake/pch.h" <gmock/gmock.h> <gtest/gtest.h>)
endif()

# test_program(TARGET): its main function and its flags
function(test_program target)
  target_link_libraries(${target} PRIVATE test_headers)
  target_precompile_headers(${target} REUSE_FROM test_headers)
endfunction()

# Warnings that are wrong only if several files are compiled as one; linked after sonde_warnings, whose choices it reverts. g++ 12
# takes .cc files for headers, and finds std::expected's own members uninitialised (PR 105562). For clang a constant in a
# neighbouring file is an outer variable: the tidy preset has it check each file by itself.
add_library(sonde_unity INTERFACE)
target_compile_options(sonde_unity INTERFACE
  "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;-Wno-maybe-uninitialized>" $<$<CXX_COMPILER_ID:Clang>:-Wno-shadow>)

# compile_together(TARGET): several sources at once if the preset wants that: half of the time of a build is headers and what they
# instantiate. The debug and tidy presets compile each by itself, so no file depends on its neighbours' includes.
function(compile_together target)
  if(SONDE_UNITY GREATER 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${SONDE_UNITY})
    target_link_libraries(${target} PRIVATE sonde_unity)
  endif()
endfunction()

# layer(NAME dependency-layer... [LIBS library...])
function(layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBS")
  set(deps ${arg_UNPARSED_ARGUMENTS})
  foreach(dep IN LISTS deps)
    if(NOT dep IN_LIST SONDE_LAYERS)
      message(FATAL_ERROR "layer ${name}: depends on '${dep}', which is not a layer below it")
    endif()
  endforeach()

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${name}/*.cc")
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test|main)\\.cc$")

  set(target sonde_${name})
  add_library(${target} STATIC ${sources} "${CMAKE_SOURCE_DIR}/cmake/layer_anchor.cc")
  target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(${target} PRIVATE sonde_warnings)
  list(TRANSFORM deps PREPEND sonde_ OUTPUT_VARIABLE dep_targets)
  target_link_libraries(${target} PUBLIC ${dep_targets} ${arg_LIBS})
  compile_together(${target})
  if(SONDE_PCH_OWNER)
    target_precompile_headers(${target} REUSE_FROM ${SONDE_PCH_OWNER})
  else()
    target_precompile_headers(${target} PRIVATE "${CMAKE_SOURCE_DIR}/cmake/pch.h")
    set(SONDE_PCH_OWNER ${target} CACHE INTERNAL "")
  endif()

  if(tests AND SONDE_TESTS)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE ${target})
    test_program(${name}_test)
    compile_together(${name}_test)
    add_test(NAME unit.${name} COMMAND ${name}_test WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  endif()

  list(APPEND SONDE_LAYERS ${name})
  set(SONDE_LAYERS ${SONDE_LAYERS} CACHE INTERNAL "")
endfunction()
