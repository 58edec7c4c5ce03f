# BPF programs: src/bpf/programs/NAME.bpf.c is compiled by clang, and bpftool generates NAME.skel.h from it, which holds the
# program's bytes. So the binary carries its programs, and needs no compiler at run time.
find_program(SONDE_BPF_CLANG NAMES clang-19 clang REQUIRED)
set(bpf_werror "")
if(SONDE_WERROR)
  set(bpf_werror -Werror)
endif()
find_program(SONDE_BPFTOOL bpftool PATHS /usr/sbin /sbin REQUIRED)

file(GLOB bpf_programs CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/bpf/programs/*.bpf.c")
file(GLOB bpf_headers CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/bpf/programs/*.h")
set(bpf_generated "${CMAKE_BINARY_DIR}/generated")
set(bpf_directory "${bpf_generated}/bpf/skeletons")
file(MAKE_DIRECTORY "${bpf_directory}")
set(bpf_skeletons "")
foreach(source IN LISTS bpf_programs)
  get_filename_component(name "${source}" NAME)
  string(REGEX REPLACE "\\.bpf\\.c$" "" name "${name}")
  set(object "${bpf_directory}/${name}.bpf.o")
  set(skeleton "${bpf_directory}/${name}.skel.h")
  add_custom_command(
    OUTPUT "${skeleton}"
    COMMAND ${SONDE_BPF_CLANG} -target bpf -O2 -g -Wall -Wextra -Wno-unused-parameter ${bpf_werror}
            "-I${CMAKE_SOURCE_DIR}/src" -fdebug-prefix-map=${CMAKE_SOURCE_DIR}=. -c "${source}" -o "${object}"
    COMMAND ${SONDE_BPFTOOL} gen skeleton "${object}" name ${name} > "${skeleton}"
    DEPENDS "${source}" ${bpf_headers}
    COMMENT "BPF program ${name}" VERBATIM)
  list(APPEND bpf_skeletons "${skeleton}")
endforeach()
add_custom_target(bpf_skeletons DEPENDS ${bpf_skeletons})
