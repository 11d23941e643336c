# How a folder of the house becomes a target: sterna_folder(NAME SOURCES ... LINKS ... PRIVATE_LINKS ...).
#
# Each folder's headers are reached as "folder/header.h" through an include directory of the build
# tree that holds a link to that folder and nothing else, so the link line is the list of folders
# that may be included: anything else does not compile (tests/house keeps it so).

add_library(sterna_flags INTERFACE)
target_compile_options(sterna_flags INTERFACE -Wall -Wextra -Werror -ffp-contract=off)
if(STERNA_SANITIZE)
  target_compile_options(sterna_flags INTERFACE -fsanitize=${STERNA_SANITIZE}
                                                -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(sterna_flags INTERFACE -fsanitize=${STERNA_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # clang 14 cannot emit its function-type check for coroutines in headers ("Cannot represent a
    # difference across sections").
    target_compile_options(sterna_flags INTERFACE -fno-sanitize=function)
  endif()
endif()
if(STERNA_FUZZ)
  target_compile_options(sterna_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# For a folder where time goes into compiling, not running: clang 14 takes half of it without -O1.
macro(sterna_sanitized_unoptimized)
  if(STERNA_SANITIZE)
    add_compile_options(-O0)
  endif()
endmacro()

function(sterna_include_root out folder)
  string(REPLACE "/" "_" flat ${folder})
  set(root ${CMAKE_BINARY_DIR}/include/${flat})
  get_filename_component(parent ${root}/${folder} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${folder} ${root}/${folder} SYMBOLIC)
  set(${out} ${root} PARENT_SCOPE)
endfunction()

# Generates C++ from .capnp files of `folder` for `target`; included as "folder/schema/x.capnp.h".
function(sterna_schemas target folder)
  set(CAPNPC_SRC_PREFIX ${CMAKE_SOURCE_DIR})
  set(CAPNPC_OUTPUT_DIR ${CMAKE_BINARY_DIR}/gen/${folder})
  set(CAPNPC_IMPORT_DIRS ${CMAKE_SOURCE_DIR})
  file(MAKE_DIRECTORY ${CAPNPC_OUTPUT_DIR})
  capnp_generate_cpp(sources headers ${ARGN})
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "-w")
  target_sources(${target} PRIVATE ${sources} ${headers})
  target_include_directories(${target} SYSTEM PUBLIC $<BUILD_INTERFACE:${CAPNPC_OUTPUT_DIR}>)
endfunction()

function(sterna_folder name)
  cmake_parse_arguments(ARG "" "FOLDER" "SOURCES;LINKS;PRIVATE_LINKS;SCHEMAS" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER ${name})
  endif()
  set(target sterna_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  sterna_include_root(root ${ARG_FOLDER})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${root}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS}
                        $<BUILD_INTERFACE:sterna_flags>)
  if(ARG_SCHEMAS)
    list(TRANSFORM ARG_SCHEMAS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    sterna_schemas(${target} ${ARG_FOLDER} ${ARG_SCHEMAS})
  endif()
endfunction()
