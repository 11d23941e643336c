# The libraries Sterna stands on, each as one imported target.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(UV REQUIRED IMPORTED_TARGET libuv)
pkg_check_modules(ZMQ REQUIRED IMPORTED_TARGET libzmq)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
find_package(CapnProto CONFIG REQUIRED)
find_package(tomlplusplus CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
find_package(fmt CONFIG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(CURL REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(Protobuf REQUIRED)

# Of libarchive tar's and gzip's readers alone: the shared one brings libxml2 and all of ICU into a
# bundle, 35 MB for nothing.
find_path(ARCHIVE_INCLUDE_DIR archive.h REQUIRED)
find_library(ARCHIVE_LIBRARY NAMES libarchive.a archive REQUIRED)
add_library(Archive::tar UNKNOWN IMPORTED)
set_target_properties(Archive::tar PROPERTIES IMPORTED_LOCATION ${ARCHIVE_LIBRARY}
                                              INTERFACE_INCLUDE_DIRECTORIES ${ARCHIVE_INCLUDE_DIR}
                                              INTERFACE_LINK_LIBRARIES ZLIB::ZLIB)

# Debian's dnnl-config.cmake asks for OpenCL's headers, which nothing here uses.
find_path(DNNL_INCLUDE_DIR dnnl.hpp REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
add_library(DNNL::dnnl SHARED IMPORTED)
set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${DNNL_LIBRARY}
                                            INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})

if(STERNA_TESTS)
  find_package(GTest CONFIG REQUIRED)
endif()
