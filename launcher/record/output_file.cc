#include "launcher/record/output_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "actors/checkpoint/manifest.h"
#include "actors/weights/trained_weights.h"
#include "launcher/record/run_directory.h"

namespace sterna::launcher {

namespace fs = std::filesystem;

namespace {

/// Whether a run or a checkpoint wrote it. (Of a run's files those whose endings commands write.)
bool is_a_runs(const fs::path& path) {
  constexpr std::array<std::string_view, 4> kOfRun{actors::kWeightsFile, kConfusionFile,
                                                   kResultFile, kStatusFile};
  const auto beside = [&path](std::string_view name) {
    std::error_code ignored;
    return fs::exists(path.parent_path() / name, ignored);
  };
  const bool named = std::ranges::find(kOfRun, path.filename().string()) != kOfRun.end();
  return (named && beside(kResolvedFile)) || beside(actors::kManifestFile);
}

}  // namespace

Result<std::string> output_file(const std::string& path, std::string_view ending,
                                std::string_view who) {
  std::error_code failed;
  const bool link = fs::is_symlink(fs::symlink_status(path, failed));
  const fs::file_status there = fs::status(path, failed);
  if (!link && !fs::exists(there)) return path;
  const fs::path file = link && fs::exists(there) ? fs::canonical(path, failed) : fs::path(path);
  const auto refused = [&](std::string_view why) {
    const std::string leads = file == path ? "" : fmt::format(" ({})", file.string());
    return Error{
        Errc::already_exists,
        fmt::format("{} {}{} is there already and {}; name another file", who, path, leads, why)};
  };
  if (!fs::exists(there) || failed) return refused("is a link that leads nowhere");
  if (!fs::is_regular_file(there)) return refused("is no regular file");
  if (!file.string().ends_with(ending)) return refused(fmt::format("does not end in {}", ending));
  if (is_a_runs(file)) return refused("is what a run left");
  return file.string();
}

}  // namespace sterna::launcher
