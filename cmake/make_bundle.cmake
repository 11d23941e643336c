# Makes the bundle of PROGRAM (see SternaBundle.cmake) in FOLDER, which is replaced. MODULES, if given
# ("a|b"), are put beside it, and so are programs, if that names several ("a|b"); STRIP is the tool; DEPFILE,
# if given, tells the build what the bundle was made of.

# glibc stays the host's: it goes with the host's loader, name services and kernel.
set(glibc "^lib(c|m|mvec|dl|rt|pthread|resolv|util|anl|nsl|BrokenLocale|nss_.*|thread_db)\\.so(\\.[0-9]+)?$")

# What the loader would load, `name` from `path` each.
string(REPLACE "|" ";" PROGRAM "${PROGRAM}")
execute_process(COMMAND ldd ${PROGRAM} OUTPUT_VARIABLE listing ERROR_VARIABLE errors
                RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "cannot tell what ${PROGRAM} needs: ${listing}${errors}")
endif()
string(REPLACE "\n" ";" listing "${listing}")

set(made ${FOLDER}.new)
file(REMOVE_RECURSE ${made})
file(MAKE_DIRECTORY ${made}/bin ${made}/lib)
list(GET PROGRAM 0 first)
get_filename_component(name ${first} NAME)
string(REPLACE "|" ";" MODULES "${MODULES}")
set(sources)
set(copies)
foreach(binary IN LISTS PROGRAM MODULES)
  get_filename_component(file ${binary} NAME)
  list(APPEND sources ${binary})
  list(APPEND copies ${made}/bin/${file})
  file(COPY_FILE ${binary} ${made}/bin/${file})
endforeach()
foreach(line IN LISTS listing)
  if(line MATCHES "^[ \t]*([^ /]+) => not found")
    message(FATAL_ERROR "${PROGRAM} needs ${CMAKE_MATCH_1}, which is not here")
  elseif(NOT line MATCHES "^[ \t]*([^ /]+) => (/.*) \\(0x[0-9a-f]+\\)$")
    continue()  # the loader itself, and the kernel's page
  endif()
  set(library ${CMAKE_MATCH_1})
  set(path ${CMAKE_MATCH_2})
  if(library MATCHES "${glibc}")
    continue()
  endif()
  # Not the variant for this very processor, where there is one for any.
  string(REGEX REPLACE "/glibc-hwcaps/[^/]+/" "/" plain ${path})
  if(EXISTS ${plain})
    set(path ${plain})
  endif()
  file(REAL_PATH ${path} path)
  if(EXISTS ${made}/lib/${library})
    continue()
  endif()
  list(APPEND sources ${path})
  list(APPEND copies ${made}/lib/${library})
  file(COPY_FILE ${path} ${made}/lib/${library})
endforeach()

foreach(copy IN LISTS copies)
  file(CHMOD ${copy} PERMISSIONS OWNER_READ OWNER_WRITE)
  execute_process(COMMAND ${STRIP} --strip-unneeded ${copy} COMMAND_ERROR_IS_FATAL ANY)
  if(copy MATCHES "/lib/[^/]+$" OR copy MATCHES "[.]so$")
    # A library's own DT_RUNPATH would end the search through the program's DT_RPATH.
    file(RPATH_REMOVE FILE ${copy})
    file(CHMOD ${copy} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  else()
    # Of the build's search path nothing else is left: no host has this machine's folders.
    file(RPATH_SET FILE ${copy} NEW_RPATH "\$ORIGIN/../lib")
    file(CHMOD ${copy} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                   WORLD_READ WORLD_EXECUTE)
  endif()
endforeach()
file(WRITE ${made}/sterna-bundle "format 1\nprogram ${name}\n")

file(REMOVE_RECURSE ${FOLDER})
file(RENAME ${made} ${FOLDER})
if(DEPFILE)
  list(JOIN sources " " sources)
  file(WRITE ${DEPFILE} "${FOLDER}/sterna-bundle: ${sources}\n")
endif()
