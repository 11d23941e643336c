#include "kernels/device/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>

#include <algorithm>
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

/// Of wheels; what goes on for longer is no Python.
constexpr std::size_t kMostFolders = 256;

bool exists(const std::string& file) {
  std::error_code failed;
  return fs::exists(file, failed);
}

/// The folder of the first python3 of a PATH; empty: there is none.
std::string folder_of_python(const std::string& path) {
  const std::vector<std::string> folders = divided(path);
  const auto found = std::ranges::find_if(
      folders, [](const std::string& folder) { return exists(folder + "/python3"); });
  return found == folders.end() ? "" : *found;
}

/// `prefix` with a folder in place of the variable that it begins with; empty: there is none.
std::string without_variable(const std::string& prefix, const LibraryPlaces& places) {
  if (!prefix.starts_with('$')) return prefix;
  const std::size_t end = prefix.find('/');
  const std::string name = prefix.substr(0, end);
  std::string value = places.home;
  if (name != "$HOME") value = folder_of_python(places.path);
  if (name == "$real" && !value.empty()) {
    std::error_code failed;
    value = fs::canonical(value + "/python3", failed).parent_path();
  }
  return value.empty() ? "" : value + prefix.substr(end);
}

/// Folders of NVIDIA's wheels, each once.
std::vector<std::string> folders_of_wheels(const LibraryPlaces& places) {
  std::vector<std::string> folders;
  std::vector<fs::path> seen;
  for (const std::string& prefix : places.prefixes) {
    const std::string begin = without_variable(prefix, places);
    if (begin.empty()) continue;
    glob_t found{};
    if (glob((begin + kWheelLibraries).c_str(), 0, nullptr, &found) == 0) {
      for (std::size_t i = 0; i < found.gl_pathc && folders.size() < kMostFolders; ++i) {
        std::error_code failed;
        fs::path real = fs::canonical(found.gl_pathv[i], failed);
        if (failed || std::ranges::find(seen, real) != seen.end()) continue;
        seen.push_back(std::move(real));
        folders.emplace_back(found.gl_pathv[i]);
      }
    }
    globfree(&found);
  }
  return folders;
}

/// Whether the loader says that it did not find this very library.
bool is_nowhere(const std::string& said, const std::string& name) {
  return said.starts_with(name + ": ") && said.find("No such file") != std::string::npos;
}

/// Where a library is looked for, and what became of that.
class Search {
 public:
  explicit Search(const std::vector<std::string>& names) : names_(names) {}

  /// What dlopen gives for the last of the names, if `folder` has them all, else null. An empty one
  /// is where the loader looks.
  void* open_in(const std::string& folder) {
    return folder.empty() ? open_by_loader() : open_all(folder, folder);
  }
  /// Whether no other folder may be tried: parts of two would call each other.
  bool is_over() const { return is_over_; }

  Error error() const {
    const char* const missing = some_ ? " is not there with all its parts" : " is not there";
    return {Errc::unavailable, (why_.empty() ? names_.front() + missing : why_) + "; looked in " +
                                   looked_ + "; install it, or name its folder in host.cuda"};
  }

 private:
  void* open_all(const std::string& folder, const std::string& shown) {
    const auto file_of = [&](const std::string& name) {
      std::string file = folder;
      return file.append("/").append(name);
    };
    std::string lacks;
    for (const std::string& name : names_) {
      if (!exists(file_of(name))) lacks.append(lacks.empty() ? "" : ", ").append(name);
    }
    const bool has_some = exists(file_of(names_.front()));
    looked_at(has_some && !lacks.empty() ? shown + " (which lacks " + lacks + ")" : shown);
    some_ |= has_some;
    if (!lacks.empty()) return nullptr;
    void* opened = nullptr;
    for (const std::string& name : names_) {
      opened = dlopen(file_of(name).c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
      if (opened == nullptr) {
        why_ = dlerror();
        return nullptr;
      }
      is_over_ = true;
    }
    return opened;
  }

  /// The loader tells only of what it has opened in which folder that was.
  void* open_by_loader() {
    const std::string shown = "where the loader looks";
    void* const first = dlopen(names_.front().c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (first == nullptr) {
      const std::string said = dlerror();
      if (!is_nowhere(said, names_.front())) why_ = said;
      looked_at(shown);
      return nullptr;
    }
    link_map* map = nullptr;
    std::string folder;
    if (dlinfo(first, RTLD_DI_LINKMAP, &map) == 0) folder = fs::path(map->l_name).parent_path();
    void* const opened = open_all(folder, shown + ": " + folder);
    if (opened == nullptr) dlclose(first);
    return opened;
  }

  void looked_at(const std::string& place) { looked_ += (looked_.empty() ? "" : ", ") + place; }

  const std::vector<std::string>& names_;
  std::string looked_;
  std::string why_;    ///< what is there does not load, in the loader's words
  bool some_ = false;  ///< whether a place had the first of them
  bool is_over_ = false;
};

/// All places: an empty folder is the loader's own search.
std::vector<std::string> all_places(const LibraryPlaces& places) {
  std::vector<std::string> all = places.folders;
  all.emplace_back();
  all.push_back(places.toolkit);
  for (std::string& folder : folders_of_wheels(places)) all.push_back(std::move(folder));
  return all;
}

}  // namespace

std::vector<std::string> parts_of_cudnn() {
  return {"libcudnn_graph.so.9",
          "libcudnn_ops.so.9",
          "libcudnn_cnn.so.9",
          "libcudnn_adv.so.9",
          "libcudnn_engines_precompiled.so.9",
          "libcudnn_engines_runtime_compiled.so.9",
          "libcudnn_heuristic.so.9",
          "libcudnn.so.9"};
}

LibraryPlaces library_places() {
  LibraryPlaces places;
  places.folders = divided(variable(kLibraryFolders));
  places.path = variable("PATH");
  places.home = variable("HOME");
  return places;
}

Result<void*> open_libraries(const std::vector<std::string>& names, const LibraryPlaces& places) {
  Search search(names);
  for (const std::string& folder : all_places(places)) {
    void* const opened = search.open_in(folder);
    if (opened != nullptr) return opened;
    if (search.is_over()) break;
  }
  return search.error();
}

}  // namespace sterna::kernels
