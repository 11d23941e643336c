# How a folder of the house becomes a target: sterna_folder(NAME LINKS ... PRIVATE_LINKS ...).
#
# Each folder's headers are reached as "folder/header.h" through an include directory of the build
# tree that holds a link to that folder and nothing else, so the link line is the list of folders
# that may be included: anything else does not compile (tests/house keeps it so).

add_library(sterna_flags INTERFACE)
target_compile_options(sterna_flags INTERFACE -Wall -Wextra -Werror -ffp-contract=off)
if(STERNA_SANITIZE)
  # Of the whole tree, so that a folder's own options, which come later, can leave parts out.
  add_compile_options(-fsanitize=${STERNA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(sterna_flags INTERFACE -fsanitize=${STERNA_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # clang 14 cannot emit its function-type check for coroutines in headers ("Cannot represent a
    # difference across sections").
    add_compile_options(-fno-sanitize=function)
  endif()
endif()
if(STERNA_FUZZ)
  # By a relative path, so that a compiler's cache takes two clones for one.
  file(RELATIVE_PATH not_fuzzed ${CMAKE_BINARY_DIR} ${CMAKE_CURRENT_LIST_DIR}/not_fuzzed.txt)
  target_compile_options(sterna_flags INTERFACE -fsanitize=fuzzer-no-link
                                                -fsanitize-coverage-ignorelist=${not_fuzzed})
endif()

# For the hundred programs that are tests: a fifth of the time of binutils' linker, where it is.
add_library(sterna_linked_fast INTERFACE)
find_program(STERNA_LLD ld.lld)
if(STERNA_LLD)
  target_link_options(sterna_linked_fast INTERFACE -fuse-ld=lld)
  if(STERNA_SANITIZE)
    target_link_libraries(sterna_flags INTERFACE sterna_linked_fast)
  endif()
endif()

# For a folder where time goes into compiling, not running.
macro(sterna_compiled_fast)
  if(STERNA_SANITIZE)
    add_compile_options(-O0) # half of clang 14's time
  endif()
endmacro()

# For a folder that casts no bytes of others to what they should be: UBSan does not ask each pointer
# for its alignment, its type and whether it is null (there ASan ends the program), which is a
# quarter of what clang 14 takes, and nearly all of UBSan's part.
macro(sterna_pointers_unchecked)
  if(STERNA_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize=alignment,null,vptr)
  endif()
endmacro()

# Files of the calling folder where each sum of addresses that UBSan checks would take most of the
# time: ASan alone watches what they read and write.
function(sterna_without_ubsan)
  if(STERNA_SANITIZE)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "-O2;-fno-sanitize=undefined"
      SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# Headers of others, parsed once for all files of a target: half of what its files take to compile.
# sterna_precompile(TARGET [REUSE_FROM OTHER]), whose options are the same, or [<HEADER>...] besides
# those of the standard library that most files include.
function(sterna_precompile name)
  if("${ARGV1}" STREQUAL REUSE_FROM)
    target_precompile_headers(${name} ${ARGN})
  else()
    target_precompile_headers(${name} PRIVATE
      ${ARGN} <chrono> <filesystem> <functional> <map> <memory> <string> <vector>)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # With precompiled headers gcc 12 takes what it inlines from them for writes out of bounds.
    target_compile_options(${name} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                                           -Wno-stringop-overread)
  endif()
  if(CCACHE)
    # As sloppy as it asks to be where headers are precompiled, or it would not keep what it compiles.
    set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${CCACHE}")
  endif()
endfunction()

# A room's files compile as one, six at a time, or twelve where few cores have much memory: they share
# the headers, where most of the time goes. Not those of rooms kept APART (each of their files has the
# same private names), and not files with compile options of their own. Off (STERNA_TOGETHER) where
# files are edited one by one.
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
cmake_host_system_information(RESULT megabytes QUERY TOTAL_PHYSICAL_MEMORY)
set(files_together 6)
math(EXPR megabytes_each "${megabytes} / ${cores}")
if(cores LESS_EQUAL 4 AND megabytes_each GREATER_EQUAL 4000)
  set(files_together 12)
endif()
function(sterna_compile_together name)
  cmake_parse_arguments(ARG "" "" "APART" ${ARGN})
  if(NOT STERNA_TOGETHER)
    return()
  endif()
  get_target_property(files ${name} SOURCES)
  foreach(file IN LISTS files)
    get_filename_component(room ${file} ABSOLUTE)
    if(room MATCHES "^${CMAKE_BINARY_DIR}/" OR
       NOT room MATCHES "^${CMAKE_SOURCE_DIR}/(.*)/[^/]*[.]cc$")
      continue()
    endif()
    set(room ${CMAKE_MATCH_1})
    if(room IN_LIST ARG_APART)
      set_source_files_properties(${file} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      continue()
    endif()
    string(MAKE_C_IDENTIFIER ${room} group)
    math(EXPR count_${group} "0${count_${group}} + 1")
    math(EXPR piece "(${count_${group}} - 1) / ${files_together}")
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${group}_${piece})
  endforeach()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${name} PRIVATE -Wno-subobject-linkage) # gcc takes the parts for headers
  endif()
endfunction()

function(sterna_include_root out folder)
  string(REPLACE "/" "_" flat ${folder})
  set(root ${CMAKE_BINARY_DIR}/include/${flat})
  get_filename_component(parent ${root}/${folder} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${folder} ${root}/${folder} SYMBOLIC)
  set(${out} ${root} PARENT_SCOPE)
endfunction()

# Generates C++ from .capnp files of `folder` for `target`; included as "folder/room/x.capnp.h".
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

# Generates C++ from .proto files of `folder` for `target` alone; included as "folder/room/x.pb.h".
function(sterna_protos target folder)
  set(generated ${CMAKE_BINARY_DIR}/gen/${folder})
  file(MAKE_DIRECTORY ${generated})
  foreach(proto IN LISTS ARGN)
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${proto})
    string(REGEX REPLACE "[.]proto$" ".pb" name ${name})
    set(made ${generated}/${name}.cc ${generated}/${name}.h)
    add_custom_command(OUTPUT ${made} DEPENDS ${proto} VERBATIM
      COMMAND protobuf::protoc --cpp_out=${generated} -I ${CMAKE_SOURCE_DIR} ${proto}
      COMMENT "Generating ${name}.h")
    set_source_files_properties(${made} PROPERTIES COMPILE_OPTIONS "-w")
    target_sources(${target} PRIVATE ${made})
  endforeach()
  target_include_directories(${target} SYSTEM PRIVATE ${generated})
endfunction()

# sterna_folder(NAME [FOLDER folder] [ROOMS room...] [FILES file...] [WITHOUT regex]
#               [LINKS target...] [PRIVATE_LINKS target...])
#
# The sources and schemas are all .cc and .capnp files of the folder (by default NAME), so that a
# new file needs no line here: those of these ROOMS only, or FILES, or all that do not match
# WITHOUT (their paths within the folder).
function(sterna_folder name)
  cmake_parse_arguments(ARG "" "FOLDER;WITHOUT" "ROOMS;FILES;LINKS;PRIVATE_LINKS" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER ${name})
  endif()
  set(target sterna_${name})
  set(here ${CMAKE_SOURCE_DIR}/${ARG_FOLDER})
  set(files ${ARG_FILES})
  if(NOT ARG_ROOMS AND NOT ARG_FILES)
    set(ARG_ROOMS .)
  endif()
  foreach(room IN LISTS ARG_ROOMS)
    file(GLOB_RECURSE found RELATIVE ${here} CONFIGURE_DEPENDS ${here}/${room}/*.cc
         ${here}/${room}/*.capnp)
    list(APPEND files ${found})
  endforeach()
  if(ARG_WITHOUT)
    list(FILTER files EXCLUDE REGEX ${ARG_WITHOUT})
  endif()
  list(TRANSFORM files PREPEND ${here}/)
  set(schemas ${files})
  list(FILTER files INCLUDE REGEX "[.]cc$")
  list(FILTER schemas INCLUDE REGEX "[.]capnp$")

  add_library(${target} STATIC ${files})
  sterna_include_root(root ${ARG_FOLDER})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${root}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS}
                        $<BUILD_INTERFACE:sterna_flags>)
  if(schemas)
    sterna_schemas(${target} ${ARG_FOLDER} ${schemas})
  endif()
endfunction()
