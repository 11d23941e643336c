// NVIDIA's libraries, which are opened when they are first used: where they are looked for.
#pragma once

#include <dlfcn.h>

#include <array>
#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace sterna::kernels {

/// The variable of the environment that has folders, divided by colons.
inline constexpr const char* kLibraryFolders = "STERNA_CUDA";

inline constexpr const char* kCublasLt = "libcublasLt.so.13";
/// All that cuDNN consists of, the one with the functions last: with one of them missing its first
/// call would end the process.
std::vector<std::string> parts_of_cudnn();

/// CUDA's toolkit.
inline constexpr const char* kToolkitLibraries = "/usr/local/cuda/lib64";
/// Where pip's packages may be, as a shell would write it. Python itself is not asked: it may be
/// slow, or not start. $python is the folder of PATH's first python3, $real that of the file which
/// it links to. In this order: a venv's or a system's own; the same behind a link; pyenv's, whose
/// python3 is a script; a user's; root's, where Debian has them.
inline constexpr std::array kPythonPrefixes = {"$python/..", "$real/..", "$python/../versions/*",
                                               "$HOME/.local", "/usr/local"};
/// Of such a prefix the folders of NVIDIA's wheels.
inline constexpr const char* kWheelLibraries = "/lib/python3*/*-packages/nvidia/*/lib";

/// Where libraries are looked for, the first that has all of one first.
struct LibraryPlaces {
  /// Looked at before the loader's own search.
  std::vector<std::string> folders = {};
  /// Looked at after it, and then pip's wheels, with the variables of that name.
  std::string toolkit = kToolkitLibraries;
  std::vector<std::string> prefixes = {kPythonPrefixes.begin(), kPythonPrefixes.end()};
  std::string path = {};
  std::string home = {};
};

/// The folders that the environment names, its PATH and its HOME.
LibraryPlaces library_places();

/// Opens `names`, one after the other, all from the first place that has them all, and returns what
/// dlopen gave for the last. They are never closed. Errors: unavailable, with which is missing and
/// all folders that were looked at, or why one does not load.
Result<void*> open_libraries(const std::vector<std::string>& names, const LibraryPlaces& places);

/// Whether an open library has a function of that name.
template <class Function>
bool find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace sterna::kernels
