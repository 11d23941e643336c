# Files that a program holds in itself, gzipped:
#
#   sterna_embed_page_files(TARGET FILE...)
#
# compiles into TARGET what launcher/page/page_files.h declares. This file is also the script that
# makes that source of them: cmake -DOUT=x.cc "-DFILES=a;b" -P Embedding.cmake
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(STERNA_EMBEDDING ${CMAKE_CURRENT_LIST_FILE})
  find_program(GZIP gzip REQUIRED)
  function(sterna_embed_page_files target)
    set(made ${CMAKE_BINARY_DIR}/gen/launcher/page/page_files.cc)
    string(REPLACE ";" "$<SEMICOLON>" files "${ARGN}")
    add_custom_command(OUTPUT ${made} DEPENDS ${ARGN} ${STERNA_EMBEDDING} VERBATIM
      COMMAND ${CMAKE_COMMAND} -DOUT=${made} -DGZIP=${GZIP} "-DFILES=${files}"
              -P ${STERNA_EMBEDDING}
      COMMENT "Embedding the page's files")
    target_sources(${target} PRIVATE ${made})
  endfunction()
  return()
endif()

set(type_html "text/html; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(arrays "")
set(rows "")
set(number 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  get_filename_component(kind ${file} LAST_EXT)
  string(SUBSTRING ${kind} 1 -1 kind)
  set(path /${name})
  if(name STREQUAL "index.html")
    set(path /)
  endif()
  set(packed ${OUT}.${number}.gz)
  execute_process(COMMAND ${GZIP} -9 -n -c ${file} OUTPUT_FILE ${packed} COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${packed} bytes HEX)
  file(REMOVE ${packed})
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "const unsigned char kFile${number}[] = {\n${bytes}};\n")
  string(APPEND rows "    {\"${path}\", \"${type_${kind}}\", kFile${number}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT "#include \"launcher/page/page_files.h\"

namespace sterna::launcher {
namespace {
@arrays@
const PageFile kFiles[] = {
@rows@};
}  // namespace

std::span<const PageFile> page_files() { return kFiles; }

}  // namespace sterna::launcher
")
