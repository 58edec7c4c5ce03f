# embed_text(LAYER file FUNCTION): a text file of the source tree, or one that the build makes, becomes part of the binary.
# The layer gets a source file that defines
#
#   namespace sonde { std::string_view FUNCTION(); }
#
# which a header of the layer declares. Run as a script (cmake -P), this file writes that source.

if(CMAKE_SCRIPT_MODE_FILE)
  file(READ "${INPUT}" text)
  file(WRITE "${OUTPUT}" "#include <string_view>\n\nnamespace sonde {\n\nstd::string_view ${FUNCTION}();\n"
    "std::string_view ${FUNCTION}() {\n  return R\"embedded(${text})embedded\";\n}\n\n}  // namespace sonde\n")
  return()
endif()

function(embed_text layer file function)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_SOURCE_DIR}" OUTPUT_VARIABLE input)
  set(output "${CMAKE_BINARY_DIR}/generated/embedded/${function}.cc")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND ${CMAKE_COMMAND} -DINPUT=${input} -DOUTPUT=${output} -DFUNCTION=${function}
            -P "${CMAKE_SOURCE_DIR}/cmake/embed_text.cmake"
    DEPENDS "${input}" "${CMAKE_SOURCE_DIR}/cmake/embed_text.cmake"
    COMMENT "embedding ${file}" VERBATIM)
  target_sources(sonde_${layer} PRIVATE "${output}")
endfunction()
