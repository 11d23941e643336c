# find_package(sterna): the library sterna::runtime, the function sterna_bundle(TARGET), and through
# CapnProto's own package capnp_generate_cpp() for your messages.
enable_language(C)  # CapnProto's package compiles a check in C
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(PkgConfig)
find_dependency(CapnProto CONFIG)
find_dependency(fmt CONFIG)
pkg_check_modules(UV QUIET REQUIRED IMPORTED_TARGET libuv)
include(${CMAKE_CURRENT_LIST_DIR}/ZeroMQ.cmake)
pkg_check_modules(SODIUM QUIET REQUIRED IMPORTED_TARGET libsodium)
include(${CMAKE_CURRENT_LIST_DIR}/sterna-targets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/SternaBundle.cmake)
