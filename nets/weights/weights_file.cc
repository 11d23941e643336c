#include "nets/weights/weights_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/base/file.h"

namespace sterna::nets {
namespace {

static_assert(std::endian::native == std::endian::little, "files hold little-endian values");

using Json = nlohmann::ordered_json;  // keeps the table's order

std::string make_header(std::span<const ParameterSpec> specs, const Metadata& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t offset = 0;
  for (const ParameterSpec& spec : specs) {
    const std::uint64_t end = offset + spec.count() * sizeof(float);
    header[spec.name] = {{"dtype", "F32"}, {"shape", spec.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  // Spaces after the header keep the data aligned for whoever maps the file.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

Result<WeightsFile> read_whole(const std::string& path) {
  STERNA_ASSIGN(const TensorFile file, TensorFile::open(path));
  WeightsFile weights;
  weights.metadata = file.metadata();
  for (const ListedTensor& listed : file.tensors()) {
    if (!listed.readable()) {
      weights.others.push_back(listed);
      continue;
    }
    NamedTensor tensor{listed.name, listed.shape, std::vector<float>(listed.count())};
    STERNA_TRY(file.read(listed, 0, tensor.values));
    weights.tensors.push_back(std::move(tensor));
  }
  return weights;
}

}  // namespace

Result<void> write_safetensors(const std::string& path, std::span<const ParameterSpec> specs,
                               std::span<const std::span<const float>> values,
                               const Metadata& metadata,
                               const std::function<void(ByteView)>& seen) {
  if (specs.size() != values.size())
    return Error{Errc::internal, path + ": as many tensors as specs are needed"};
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (values[i].size() != specs[i].count())
      return Error{Errc::internal, fmt::format("{}: {} values for {} of {}", path, values[i].size(),
                                               specs[i].name, specs[i].count())};
  const std::string header = make_header(specs, metadata);
  const std::uint64_t length = header.size();
  std::vector<ByteView> parts{std::as_bytes(std::span(&length, 1)),
                              std::as_bytes(std::span(header))};
  for (const std::span<const float> tensor : values) parts.push_back(std::as_bytes(tensor));
  STERNA_TRY(write_atomically(path, parts));
  if (seen) std::ranges::for_each(parts, seen);
  return {};
}

Result<WeightsFile> read_safetensors(const std::string& path) {
  try {
    return read_whole(path);
  } catch (const std::bad_alloc&) {
    return Error{Errc::io, path + ": does not fit into memory"};
  }
}

}  // namespace sterna::nets
