# sterna_bundle(TARGET [NAME name] [MODULES target...]): makes a relocatable folder of a program, for hosts that have
# none of its libraries.
#
# TARGET is an executable whose main() is sterna::main's. The target `name` (default:
# <TARGET>_bundle) makes the folder `bundle` beside the program, where the launcher looks for it:
#
#   bundle/bin/PROGRAM      stripped, and beside it the MODULES that it opens when it needs them
#   bundle/lib/*.so.*       every shared library it needs, except those of glibc
#   bundle/sterna-bundle    says that this is a bundle, and of which program
#
# It runs where the C library is at least as new as here. Where the program lies must be settled
# before the call, and only one program of a folder can have a bundle.
include_guard(GLOBAL)
set(STERNA_MAKE_BUNDLE ${CMAKE_CURRENT_LIST_DIR}/make_bundle.cmake)

function(sterna_bundle target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "NAME" "MODULES")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sterna_bundle(${target}): what is '${ARG_UNPARSED_ARGUMENTS}'?")
  endif()
  if(NOT ARG_NAME)
    set(ARG_NAME ${target}_bundle)
  endif()
  # DT_RPATH, not DT_RUNPATH: the loader searches the latter for direct dependencies only.
  # The build id is how a bundle is known to be of this very build.
  target_link_options(${target} PRIVATE LINKER:--disable-new-dtags LINKER:--build-id=sha1)
  set_property(TARGET ${target} APPEND PROPERTY BUILD_RPATH "\$ORIGIN/../lib")

  get_target_property(folder ${target} RUNTIME_OUTPUT_DIRECTORY)
  if(NOT folder)
    get_target_property(folder ${target} BINARY_DIR)
  endif()
  set(modules)
  foreach(module IN LISTS ARG_MODULES)
    list(APPEND modules $<TARGET_FILE:${module}>)
  endforeach()
  set(mark ${folder}/bundle/sterna-bundle)
  set(depfile ${CMAKE_CURRENT_BINARY_DIR}/${ARG_NAME}.d)
  add_custom_command(OUTPUT ${mark} DEPFILE ${depfile} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${target}> -DFOLDER=${folder}/bundle
            "-DMODULES=$<JOIN:${modules},|>" -DSTRIP=${CMAKE_STRIP} -DDEPFILE=${depfile}
            -P ${STERNA_MAKE_BUNDLE}
    DEPENDS ${target} ${ARG_MODULES} ${STERNA_MAKE_BUNDLE}
    COMMENT "Bundling ${target} with its libraries")
  add_custom_target(${ARG_NAME} DEPENDS ${mark})
endfunction()
