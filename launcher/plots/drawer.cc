#include "launcher/plots/drawer.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <system_error>

#include "launcher/plots/curves_csv.h"
#include "launcher/plots/drawing/drawing.h"
#include "runtime/base/file.h"

namespace sterna::launcher {

namespace fs = std::filesystem;

std::string program_folder() {
  std::error_code failed;
  return fs::read_symlink("/proc/self/exe", failed).parent_path().string();
}

Result<std::string> picture_of(const Plot& plot, PictureForm form, const std::string& folder) {
  const std::string file = folder + "/" + kDrawingModule;
  if (!fs::exists(file)) {
    return Error{Errc::not_found, file + " is not there: build the target sterna_drawing"};
  }
  // It stays: cairo keeps fonts for the next picture, and nobody else knows how to free them.
  void* const module = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (module == nullptr) return Error{Errc::io, std::string("cannot draw: ") + ::dlerror()};
  const auto draw_plot = reinterpret_cast<DrawPlot>(::dlsym(module, kDrawPlot));
  if (draw_plot == nullptr) return Error{Errc::io, file + ": it is no module that draws"};

  std::string picture;
  const TakePiece append = [](void* to, const unsigned char* bytes, std::size_t size) {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), size);
  };
  std::array<char, 256> why{};
  if (!draw_plot(plot, form, append, &picture, why.data(), why.size())) {
    return Error{Errc::io, std::string("cannot draw: ") + why.data()};
  }
  return picture;
}

Result<void> draw(const Plot& plot, const std::string& path, const std::string& folder) {
  const std::string ending = fs::path(path).extension().string();
  if (ending == ".csv") return write_atomically(path, curves_csv(plot));
  if (ending != ".svg" && ending != ".png") {
    return Error{Errc::invalid_argument,
                 path + ": a picture's name ends in .svg or .png, that of its numbers in .csv"};
  }
  const PictureForm form = ending == ".svg" ? PictureForm::svg : PictureForm::png;
  STERNA_ASSIGN(const std::string picture, picture_of(plot, form, folder));
  return write_atomically(path, picture);
}

}  // namespace sterna::launcher
