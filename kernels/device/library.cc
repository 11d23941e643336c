#include "kernels/device/library.h"

#include <dlfcn.h>
#include <glob.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

namespace sterna::kernels {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> divided(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ':');) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

/// Folders of NVIDIA's wheels beside the first python3 of a PATH.
std::vector<std::string> folders_of_wheels(const std::string& path) {
  std::vector<std::string> folders;
  for (const std::string& folder : divided(path)) {
    std::error_code failed;
    if (!fs::exists(folder + "/python3", failed)) continue;
    const std::string pattern =
        folder + "/../lib/python3*/*-packages/nvidia/*/lib";  // site- or dist-packages
    glob_t found{};
    if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
      for (std::size_t i = 0; i < found.gl_pathc; ++i) folders.emplace_back(found.gl_pathv[i]);
    }
    globfree(&found);
    break;
  }
  return folders;
}

void* open_one(const std::string& file) {
  return dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
}

/// Whether the loader says that it did not find this very library.
bool is_nowhere(const std::string& said, const std::string& name) {
  return said.starts_with(name + ": ") && said.find("No such file") != std::string::npos;
}

/// Where a library is, and all places that were looked at: an empty folder is the loader's search.
std::vector<std::string> all_places(const LibraryPlaces& places) {
  std::vector<std::string> all = places.folders;
  all.emplace_back();
  all.push_back(places.toolkit);
  for (std::string& folder : folders_of_wheels(places.path)) all.push_back(std::move(folder));
  return all;
}

std::string file_in(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

}  // namespace

LibraryPlaces library_places() {
  LibraryPlaces places;
  places.folders = divided(variable(kLibraryFolders));
  places.path = variable("PATH");
  return places;
}

Result<void*> open_libraries(const std::vector<std::string>& names, const LibraryPlaces& places) {
  const std::vector<std::string> all = all_places(places);
  std::string why;
  for (const std::string& folder : all) {
    std::error_code failed;
    if (!folder.empty() && !fs::exists(file_in(folder, names.front()), failed)) continue;
    void* opened = nullptr;
    for (const std::string& name : names) {
      opened = open_one(file_in(folder, name));
      if (opened != nullptr) continue;
      // What is there but does not load says why; the loader's search may find nothing at all.
      const std::string said = dlerror();
      if (!folder.empty() || !is_nowhere(said, names.front())) why = said;
      break;
    }
    if (opened != nullptr) return opened;
  }
  if (!why.empty()) return Error{Errc::unavailable, why};
  std::string looked;
  for (const std::string& folder : all) {
    looked += (looked.empty() ? "" : ", ") + (folder.empty() ? "where the loader looks" : folder);
  }
  return Error{Errc::unavailable, names.front() + " is not there; looked in " + looked +
                                      "; install it, or name its folder in host.cuda"};
}

}  // namespace sterna::kernels
