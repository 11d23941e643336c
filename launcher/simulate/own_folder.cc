#include "launcher/simulate/own_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInMemory = "/dev/shm";

}  // namespace

OwnFolder::OwnFolder(std::string before, std::string path)
    : before_(std::move(before)), path_(std::move(path)) {}

OwnFolder::OwnFolder(OwnFolder&& other) noexcept
    : before_(std::move(other.before_)), path_(std::exchange(other.path_, "")) {}

Result<OwnFolder> OwnFolder::enter() {
  std::error_code failed;
  const fs::path before = fs::current_path(failed);
  if (failed) return system_error("the current folder", failed.value());
  fs::path parent = kInMemory;
  if (!fs::is_directory(parent, failed)) parent = fs::temp_directory_path(failed);
  std::string path = (parent / "sterna-simulate-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) return system_error(path, errno);
  OwnFolder folder(before.string(), path);
  fs::current_path(path, failed);
  if (failed) return system_error(path, failed.value());
  return folder;
}

OwnFolder::~OwnFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::current_path(before_, ignored);
  fs::remove_all(path_, ignored);
}

}  // namespace sterna::launcher
