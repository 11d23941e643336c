#include "launcher/plots/drawer.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <system_error>

#include "launcher/plots/drawing/drawing.h"

namespace sterna::launcher {

namespace fs = std::filesystem;

std::string program_folder() {
  std::error_code failed;
  return fs::read_symlink("/proc/self/exe", failed).parent_path().string();
}

Result<void> draw(const Plot& plot, const std::string& path, const std::string& folder) {
  const std::string ending = fs::path(path).extension().string();
  if (ending != ".svg" && ending != ".png") {
    return Error{Errc::invalid_argument, path + ": a picture's name ends in .svg or .png"};
  }
  const std::string file = folder + "/" + kDrawingModule;
  if (!fs::exists(file)) {
    return Error{Errc::not_found, file + " is not there: build the target sterna_drawing"};
  }
  // It stays: cairo keeps fonts for the next picture, and nobody else knows how to free them.
  void* const module = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (module == nullptr) return Error{Errc::io, std::string("cannot draw: ") + ::dlerror()};
  const auto draw_plot = reinterpret_cast<DrawPlot>(::dlsym(module, kDrawPlot));
  if (draw_plot == nullptr) return Error{Errc::io, file + ": it is no module that draws"};

  const std::string temporary = fmt::format("{}.{}{}", path, ::getpid(), ending);
  std::array<char, 256> why{};
  std::error_code failed;
  if (!draw_plot(plot, temporary.c_str(), why.data(), why.size())) {
    fs::remove(temporary, failed);
    return Error{Errc::io, fmt::format("cannot write {}: {}", path, why.data())};
  }
  fs::rename(temporary, path, failed);
  if (failed) return Error{Errc::io, fmt::format("cannot write {}: {}", path, failed.message())};
  return {};
}

}  // namespace sterna::launcher
