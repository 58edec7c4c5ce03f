# sonde-portable: the same object files as `sonde`, linked so that the program runs on every x86-64 distribution with glibc 2.31 or
# later. Its C library is Debian 11's, its other libraries are linked in; tools/packaging/portable.py puts both below
# build/portable. Not part of `all`: ./dev tarball builds it.

if(CMAKE_CROSSCOMPILING OR CMAKE_CXX_FLAGS MATCHES "-fsanitize" OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64"
   OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  return()
endif()

set(portable "${CMAKE_SOURCE_DIR}/build/portable")
set(portable_libc "${portable}/root/lib/x86_64-linux-gnu")
set(portable_libs "${portable}/root/usr/lib/x86_64-linux-gnu")
execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-libgcc-file-name OUTPUT_VARIABLE portable_gcc OUTPUT_STRIP_TRAILING_WHITESPACE)
get_filename_component(portable_gcc "${portable_gcc}" DIRECTORY)

# link_portably(TARGET START-FILE...): against Debian 11's files, named one by one, since the compiler driver would find its own.
# Shared objects go behind -Wl: of files that are not there yet when it runs, CMake makes -l options, which find this machine's.
function(link_portably target)
  target_link_options(${target} PRIVATE -nostdlib ${ARGN} "${portable_libs}/crti.o" "${portable_gcc}/crtbeginS.o")
  target_link_libraries(${target} PRIVATE
    "${portable_gcc}/libstdc++.a" "${portable_gcc}/libgcc.a" "-Wl,${portable_libc}/libgcc_s.so.1"
    # Before 2.34, threads and dlopen were libraries of their own.
    -Wl,--no-as-needed "-Wl,${portable_libc}/libpthread.so.0,${portable_libc}/libdl.so.2" -Wl,--as-needed
    "-Wl,${portable_libc}/libm.so.6,${portable_libc}/libc.so.6" "${portable_libs}/libc_nonshared.a"
    "-Wl,${portable_libc}/ld-linux-x86-64.so.2"
    "${portable_gcc}/crtendS.o" "${portable_libs}/crtn.o")
endfunction()

add_executable(sonde-portable EXCLUDE_FROM_ALL $<TARGET_OBJECTS:sonde> tools/packaging/portable/older_libc.cc)
foreach(layer IN LISTS SONDE_LAYERS)
  list(APPEND portable_layers "$<TARGET_FILE:sonde_${layer}>")
  add_dependencies(sonde-portable sonde_${layer})
endforeach()
target_link_libraries(sonde-portable PRIVATE sonde_warnings
  -Wl,--start-group ${portable_layers} -Wl,--end-group
  "${portable}/libraries/lib/libfmt.a" "${portable}/libraries/lib/libtbb.a" "${portable}/libraries/lib/libZydis.a"
  libxxhash.a libbpf.a libelf.a liblzma.a libdeflate.a libzstd.a libbz2.a libz.a libiberty.a "-Wl,${portable_libs}/libipt.so.2")
link_portably(sonde-portable "${portable_libs}/Scrt1.o")

# The agent is loaded into JVMs of containers, whose C library may be older than this machine's.
add_library(sonde-jvmti-portable SHARED EXCLUDE_FROM_ALL $<TARGET_OBJECTS:sonde-jvmti> tools/packaging/portable/older_libc.cc)
target_link_libraries(sonde-jvmti-portable PRIVATE sonde_warnings)
link_portably(sonde-jvmti-portable)

# Not the directories of build/portable, which only the linker needs.
set_target_properties(sonde-portable PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib/sonde")
set_target_properties(sonde-jvmti-portable PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "")

# In the archive they have the names that they have elsewhere.
set_target_properties(sonde-portable PROPERTIES OUTPUT_NAME sonde RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/portable")
set_target_properties(sonde-jvmti-portable PROPERTIES OUTPUT_NAME sonde-jvmti LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/portable")
