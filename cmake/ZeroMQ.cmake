# libzmq as PkgConfig::ZMQ. Its package names a folder by -isystem, which is a folder when a build is
# first configured and an option from then on [CMake 3.25, FindPkgConfig], so that all would be compiled
# anew; and its headers include nothing from there.
pkg_check_modules(ZMQ QUIET REQUIRED IMPORTED_TARGET libzmq)
set_target_properties(PkgConfig::ZMQ PROPERTIES
  INTERFACE_COMPILE_OPTIONS "" INTERFACE_INCLUDE_DIRECTORIES "${ZMQ_INCLUDEDIR}")
