#include "actors/checkpoint/checkpoint_folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "actors/checkpoint/saved.h"

namespace sterna::actors {

namespace fs = std::filesystem;

Result<void> append_to_part(const std::string& path, ByteView bytes, bool first) {
  std::ofstream file(path, std::ios::binary | (first ? std::ios::trunc : std::ios::app));
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return Error{Errc::io, "cannot write " + path};
  return {};
}

Result<Bytes> read_of_part(const std::string& path, std::uint64_t offset, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{Errc::not_found, path + ": cannot be read"};
  file.seekg(static_cast<std::streamoff>(offset));
  const auto buffer = make_buffer(most);
  file.read(reinterpret_cast<char*>(buffer->data()), static_cast<std::streamsize>(most));
  if (file.bad()) return Error{Errc::io, path + ": cannot be read to its end"};
  const auto size = static_cast<std::size_t>(file.gcount());
  return share(buffer, size);
}

void remove_checkpoint(const std::string& checkpoint) {
  std::error_code ignored;
  fs::remove(fs::path(checkpoint) / kManifestFile, ignored);
  fs::remove_all(checkpoint, ignored);
}

void remove_old_checkpoints(const std::string& folder, const KeptCheckpoints& kept) {
  const std::vector<FoundCheckpoint> found = find_checkpoints(folder, kept.run);
  std::size_t whole = 0;
  const auto best = best_of_each_count(found);
  const auto is_best = [&](const FoundCheckpoint& one) {
    return std::any_of(best.begin(), best.end(),
                       [&](const auto& group) { return &found[group.second] == &one; });
  };
  for (auto one = found.rbegin(); one != found.rend(); ++one) {
    if (one->step > kept.made) continue;
    if (one->manifest) ++whole;
    const bool stays = (one->manifest && whole <= kept.keep) || (kept.best && is_best(*one)) ||
                       one->step == kept.copied || kept.awaited.contains(one->step);
    if (!stays) remove_checkpoint(one->folder);
  }
}

}  // namespace sterna::actors
