# The libraries Sterna stands on, each as one imported target.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(UV REQUIRED IMPORTED_TARGET libuv)
include(ZeroMQ)
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
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
find_path(DYGRAPHS dygraph.min.js PATHS /usr/share/javascript/dygraphs REQUIRED) # the page's charts
pkg_check_modules(CAIRO REQUIRED IMPORTED_TARGET cairo)

# Of libarchive tar's and gzip's readers and zip's writer alone (which could encrypt, by nettle): the
# shared one brings libxml2 and all of ICU into a bundle, 35 MB for nothing. The function that chooses
# among all writers lies beside one that zip's calls, and would ask for the same.
find_path(ARCHIVE_INCLUDE_DIR archive.h REQUIRED)
find_library(ARCHIVE_LIBRARY NAMES libarchive.a archive REQUIRED)
find_library(NETTLE_LIBRARY NAMES libnettle.a nettle REQUIRED)
add_library(Archive::archive UNKNOWN IMPORTED)
set_target_properties(Archive::archive PROPERTIES
  IMPORTED_LOCATION ${ARCHIVE_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${ARCHIVE_INCLUDE_DIR}
  INTERFACE_LINK_LIBRARIES "ZLIB::ZLIB;${NETTLE_LIBRARY}" INTERFACE_LINK_OPTIONS LINKER:--gc-sections)

# ONNX's messages; its checker, which is larger and knows every operator, is for tests alone.
find_path(ONNX_INCLUDE_DIR onnx/onnx_pb.h REQUIRED)
find_library(ONNX_PROTO_LIBRARY onnx_proto REQUIRED)
add_library(ONNX::proto SHARED IMPORTED)
set_target_properties(ONNX::proto PROPERTIES
  IMPORTED_LOCATION ${ONNX_PROTO_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${ONNX_INCLUDE_DIR}
  INTERFACE_COMPILE_DEFINITIONS "ONNX_NAMESPACE=onnx;ONNX_ML=1"
  INTERFACE_LINK_LIBRARIES protobuf::libprotobuf)

# Debian's dnnl-config.cmake asks for OpenCL's headers, which nothing here uses.
find_path(DNNL_INCLUDE_DIR dnnl.hpp REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
add_library(DNNL::dnnl SHARED IMPORTED)
set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${DNNL_LIBRARY}
                                            INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})

if(STERNA_TESTS)
  find_package(GTest CONFIG REQUIRED)
  find_library(ONNX_LIBRARY onnx REQUIRED)
  add_library(ONNX::checker SHARED IMPORTED)
  set_target_properties(ONNX::checker PROPERTIES IMPORTED_LOCATION ${ONNX_LIBRARY}
                                                 INTERFACE_LINK_LIBRARIES ONNX::proto)
endif()
