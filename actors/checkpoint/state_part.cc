#include "actors/checkpoint/state_part.h"

#include <fmt/format.h>
#include <sodium/crypto_generichash.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <span>
#include <tuple>

#include "nets/weights/weights_file.h"
#include "runtime/base/file.h"

namespace sterna::actors {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStepPrefix = "step-";
constexpr std::size_t kReadAtOnce = std::size_t{1} << 20;

/// All of `text` as a number, or nothing.
std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::span<const float> floats_of(const Bytes& bytes) {
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

/// That actor's parts in that folder. A name may end as another's does: "a.b" as "b".
void remove_own_parts(const fs::path& folder, std::string_view actor) {
  std::vector<fs::path> parts;
  std::error_code failed;
  fs::directory_iterator at(folder.empty() ? "." : folder, failed);
  for (const fs::directory_iterator none; !failed && at != none; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    const auto version = parse_checkpoint_name(name.substr(0, name.find('.')));
    if (version && name == own_part_file(*version, actor)) parts.push_back(at->path());
  }
  for (const fs::path& part : parts) fs::remove(part, failed);
}

/// Of bytes that come in pieces.
class Hasher {
 public:
  Hasher() { crypto_generichash_init(&state_, nullptr, 0, std::tuple_size_v<Hash>); }
  void add(ByteView bytes) {
    crypto_generichash_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()),
                              bytes.size());
  }
  Hash hash() {
    Hash hash{};
    crypto_generichash_final(&state_, reinterpret_cast<unsigned char*>(hash.data()), hash.size());
    return hash;
  }

 private:
  crypto_generichash_state state_;
};

/// Notes in `said` how long the file is, and its hash.
Result<void> write(const StatePart& part, const fs::path& path, PartWritten& said) {
  if (path.has_parent_path()) STERNA_TRY(make_directory(path.parent_path()));
  // They come in the order in which they were made.
  std::vector<const StatePiece*> pieces;
  for (const StatePiece& piece : part.pieces) pieces.push_back(&piece);
  std::ranges::sort(pieces, {},
                    [](const StatePiece* piece) { return std::tie(piece->array, piece->first); });
  std::vector<nets::ParameterSpec> specs;
  std::vector<std::span<const float>> values;
  for (const StatePiece* piece : pieces) {
    values.push_back(floats_of(piece->values));
    specs.push_back(
        {.name = piece_name(piece->array, piece->first), .shape = {values.back().size()}});
  }
  Hasher hasher;
  STERNA_TRY(nets::write_safetensors(path.string(), specs, values,
                                     {{"format", "1"}, {"step", std::to_string(part.version)}},
                                     [&](ByteView bytes) {
                                       said.bytes += bytes.size();
                                       hasher.add(bytes);
                                     }));
  said.hash = hasher.hash();
  return {};
}

}  // namespace

std::string slot_state(std::string_view optimizer, std::size_t slot) {
  return fmt::format("{}.{}", optimizer, slot);
}

std::string residual_state(std::uint32_t rank, std::uint32_t averaged_ranks) {
  if (averaged_ranks == 1) return fmt::format("residual.{}", rank);
  return fmt::format("residual.{}-{}", rank, rank + averaged_ranks - 1);
}

std::string local_state(std::uint32_t rank, std::string_view kind) {
  return fmt::format("local.{}.{}", rank, kind);
}

namespace {

constexpr std::string_view kOfNoTensor = "all";
constexpr unsigned kNoteBits = 24;  // that an fp32 has

}  // namespace

std::string slots_begin_state(std::string_view optimizer) {
  return array_of(fmt::format("{}.begin", optimizer), kOfNoTensor);
}

std::string local_slots_begin_state(std::uint32_t rank) {
  return array_of(local_state(rank, "begin"), kOfNoTensor);
}

std::array<float, 2> note_of(std::uint64_t step) {
  constexpr std::uint64_t kLow = (1U << kNoteBits) - 1;
  return {static_cast<float>(step >> kNoteBits), static_cast<float>(step & kLow)};
}

std::uint64_t step_of(const std::array<float, 2>& note) {
  // Of what no note is, 0.
  const auto part = [](float value) {
    constexpr float kMost = 1U << kNoteBits;
    return value >= 0 && value < kMost ? static_cast<std::uint64_t>(value) : 0;
  };
  return (part(note[0]) << kNoteBits) + part(note[1]);
}

std::string array_of(std::string_view kind, std::string_view tensor) {
  return fmt::format("{}/{}", kind, tensor);
}

std::string piece_name(std::string_view array, std::uint64_t first) {
  return fmt::format("{}@{}", array, first);
}

std::optional<PieceName> parse_piece_name(std::string_view name) {
  const std::size_t at = name.rfind('@');
  if (at == std::string_view::npos || name.substr(0, at).find('/') == std::string_view::npos) {
    return std::nullopt;
  }
  const std::optional<std::uint64_t> first = number_of(name.substr(at + 1));
  if (!first) return std::nullopt;
  return PieceName{std::string(name.substr(0, at)), *first};
}

std::string checkpoint_name(std::uint64_t version) {
  return fmt::format("{}{:09}", kStepPrefix, version);
}

std::optional<std::uint64_t> parse_checkpoint_name(std::string_view name) {
  if (!name.starts_with(kStepPrefix)) return std::nullopt;
  const std::optional<std::uint64_t> version = number_of(name.substr(kStepPrefix.size()));
  if (!version || checkpoint_name(*version) != name) return std::nullopt;
  return version;
}

std::string part_file(std::string_view actor) { return fmt::format("{}.safetensors", actor); }

std::string own_part_file(std::uint64_t version, std::string_view actor) {
  return fmt::format("{}.{}", checkpoint_name(version), part_file(actor));
}

PartWritten write_part(const StatePart& part, const std::string& folder, const std::string& own,
                       const std::string& actor) {
  const bool fetched = folder.empty();
  PartWritten said{.version = part.version,
                   .file = fetched ? own_part_file(part.version, actor) : part_file(actor)};
  if (fetched) remove_own_parts(own, actor);
  const fs::path place = fetched ? fs::path(own) : fs::path(folder) / checkpoint_name(part.version);
  const fs::path path = place / said.file;
  const Result<void> written = write(part, path, said);
  if (!written) said.error = written.error().message;
  return said;
}

Result<Hash> hash_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{Errc::not_found, path + ": cannot be read"};
  Hasher hasher;
  std::vector<char> piece(kReadAtOnce);
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    hasher.add(std::as_bytes(std::span(piece).first(static_cast<std::size_t>(file.gcount()))));
  }
  if (file.bad()) return Error{Errc::io, path + ": cannot be read to its end"};
  return hasher.hash();
}

}  // namespace sterna::actors
