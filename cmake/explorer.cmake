# The explorer's page: web/explorer/ is bundled by esbuild into one script and one stylesheet, which become part of the binary.
# Nothing is downloaded: the program uses only the browser's own APIs and no package.
find_program(SONDE_ESBUILD esbuild REQUIRED)

file(GLOB explorer_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/web/explorer/*.ts")
set(explorer_script "${CMAKE_BINARY_DIR}/generated/explorer/explorer.js")
set(explorer_style "${CMAKE_BINARY_DIR}/generated/explorer/explorer.css")
add_custom_command(
  OUTPUT "${explorer_script}"
  COMMAND ${SONDE_ESBUILD} main.ts --bundle --format=iife --target=es2020 --minify --charset=utf8 --log-level=warning
          --outfile=${explorer_script}
  WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}/web/explorer"
  DEPENDS ${explorer_sources}
  COMMENT "bundling the explorer" VERBATIM)
add_custom_command(
  OUTPUT "${explorer_style}"
  COMMAND ${SONDE_ESBUILD} page.css --minify --charset=utf8 --log-level=warning --outfile=${explorer_style}
  WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}/web/explorer"
  DEPENDS "${CMAKE_SOURCE_DIR}/web/explorer/page.css"
  COMMENT "the explorer's style" VERBATIM)
embed_text(export ${explorer_script} explorer_script)
embed_text(export ${explorer_style} explorer_style)
