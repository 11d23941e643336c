// NVIDIA's libraries, which are opened when they are first used: where they are looked for.
#pragma once

#include <dlfcn.h>

#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace sterna::kernels {

/// The variable of the environment that has folders, divided by colons.
inline constexpr const char* kLibraryFolders = "STERNA_CUDA";

/// Where libraries are looked for, the first that has one first.
struct LibraryPlaces {
  /// Looked at before the loader's own search.
  std::vector<std::string> folders = {};
  /// Looked at after it: CUDA's toolkit, and what pip has installed for the python3 of this PATH.
  std::string toolkit = "/usr/local/cuda/lib64";
  std::string path = {};
};

/// The folders that the environment names, and its PATH.
LibraryPlaces library_places();

/// Opens `names`, one after the other, from the first place that has the first of them, and returns
/// what dlopen gave for the last. They are never closed. Errors: unavailable, with which is missing
/// and where it was looked for.
Result<void*> open_libraries(const std::vector<std::string>& names, const LibraryPlaces& places);

/// Whether an open library has a function of that name.
template <class Function>
bool find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace sterna::kernels
