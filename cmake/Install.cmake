# What `cmake --install` puts under the prefix:
#
#   bin/sterna                 -> libexec/sterna/bin/sterna, within its bundle: what it ships to hosts
#   include/sterna/runtime/    the runtime's headers and schemas: #include "runtime/main.h"
#   lib/libsterna_*.a
#   lib/cmake/sterna/          find_package(sterna): sterna::runtime, sterna_bundle(TARGET)
#   share/doc/sterna/          README.md, docs/ and configs/, which help texts name and which lead to
#                              each other (links to other folders lead into the sources), and the
#                              example of the runtime's guide
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(headers ${CMAKE_INSTALL_INCLUDEDIR}/sterna)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/sterna)
set_target_properties(sterna_base PROPERTIES EXPORT_NAME base)
set_target_properties(sterna_runtime PROPERTIES EXPORT_NAME runtime)
install(TARGETS sterna_base sterna_runtime EXPORT sterna INCLUDES DESTINATION ${headers})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/runtime DESTINATION ${headers}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.capnp")
install(DIRECTORY ${CMAKE_BINARY_DIR}/gen/runtime/ DESTINATION ${headers}
        FILES_MATCHING PATTERN "*.capnp.h")

install(EXPORT sterna NAMESPACE sterna:: FILE sterna-targets.cmake DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/sterna-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/sterna-config-version.cmake
              ${CMAKE_CURRENT_LIST_DIR}/sterna-config.cmake ${CMAKE_CURRENT_LIST_DIR}/ZeroMQ.cmake
              ${CMAKE_CURRENT_LIST_DIR}/SternaBundle.cmake
              ${CMAKE_CURRENT_LIST_DIR}/make_bundle.cmake
        DESTINATION ${package})

install(FILES ${CMAKE_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/configs DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN "*.md" PATTERN "*.toml")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/tests/outside/words DESTINATION ${CMAKE_INSTALL_DOCDIR}
        PATTERN build EXCLUDE)

set(gpu_module)
if(STERNA_CUDA_FOUND)
  set(gpu_module $<TARGET_FILE:sterna_cuda>)
endif()
install(CODE "set(PROGRAM \"$<TARGET_FILE:sterna>\")
set(STRIP \"${CMAKE_STRIP}\")
set(MODULES \"${gpu_module}\")
set(FOLDER \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBEXECDIR}/sterna\")
message(STATUS \"Installing: \${FOLDER}\")
include(\"${CMAKE_CURRENT_LIST_DIR}/make_bundle.cmake\")
set(bin \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
file(MAKE_DIRECTORY \${bin})
file(RELATIVE_PATH program \${bin} \${FOLDER}/bin/sterna)
file(CREATE_LINK \${program} \${bin}/sterna SYMBOLIC)")
install(FILES $<TARGET_FILE:sterna_drawing> DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/sterna/bin)
