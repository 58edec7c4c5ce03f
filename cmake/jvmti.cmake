# libsonde-jvmti.so: the agent that JVMs load (docs/jit.md). It is loaded into other people's processes, also in containers, so it
# links its C++ library statically. Any JDK's headers will do.

# A process not built with a sanitizer cannot load a library that is; the guest has no Java.
if(CMAKE_CROSSCOMPILING OR CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  return()
endif()

file(GLOB jvmti_headers "/usr/lib/jvm/*/include/jvmti.h")
list(SORT jvmti_headers)
find_path(JVMTI_INCLUDE jvmti.h HINTS $ENV{JAVA_HOME}/include)
if(NOT JVMTI_INCLUDE AND jvmti_headers)
  list(GET jvmti_headers 0 jvmti_header)
  get_filename_component(jvmti_directory "${jvmti_header}" DIRECTORY)
  set(JVMTI_INCLUDE "${jvmti_directory}" CACHE PATH "where jvmti.h is" FORCE)
endif()
if(NOT JVMTI_INCLUDE)
  message(FATAL_ERROR "jvmti.h is missing: ./dev deps installs a JDK")
endif()

file(GLOB jvmti_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/agents/jvmti/*.cc")
list(FILTER jvmti_sources EXCLUDE REGEX "_test\\.cc$")
add_library(sonde-jvmti SHARED ${jvmti_sources})
target_include_directories(sonde-jvmti SYSTEM PRIVATE "${JVMTI_INCLUDE}" "${JVMTI_INCLUDE}/linux")
target_compile_options(sonde-jvmti PRIVATE -fvisibility=hidden)
target_link_libraries(sonde-jvmti PRIVATE sonde_warnings)
target_link_options(sonde-jvmti PRIVATE -static-libgcc -static-libstdc++)
set_target_properties(sonde-jvmti PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")

if(SONDE_TESTS)
  file(GLOB jvmti_tests CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/agents/jvmti/*_test.cc")
  list(FILTER jvmti_sources EXCLUDE REGEX "/agent\\.cc$")
  add_executable(jvmti_test ${jvmti_tests} ${jvmti_sources})
  target_include_directories(jvmti_test SYSTEM PRIVATE "${JVMTI_INCLUDE}" "${JVMTI_INCLUDE}/linux")
  target_link_libraries(jvmti_test PRIVATE sonde_symbol sonde_warnings GTest::gtest_main)
  add_test(NAME jvmti_test COMMAND jvmti_test)
endif()
