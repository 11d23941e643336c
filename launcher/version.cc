#include "launcher/version.h"

#include <capnp/common.h>
#include <curl/curl.h>
#include <dnnl.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <sodium.h>
#include <toml++/impl/version.h>
#include <uv.h>
#include <zlib.h>
#include <zmq.h>
#include <CLI/Version.hpp>

#include <cstring>
#include <nlohmann/detail/macro_scope.hpp>
#include <string_view>

#include "kernels/isa.h"

namespace sterna::launcher {
namespace {

constexpr std::size_t aligned(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

/// The build id among the notes of one PT_NOTE segment, or "".
std::string find_build_id(std::string_view notes) {
  while (notes.size() > sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof header);
    const std::size_t name = sizeof header;
    const std::size_t content = name + aligned(header.n_namesz);
    const std::size_t end = content + aligned(header.n_descsz);
    if (end > notes.size()) break;
    if (header.n_type == NT_GNU_BUILD_ID && notes.substr(name, 3) == "GNU") {
      std::string hex;
      for (const char c : notes.substr(content, header.n_descsz)) {
        hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
      }
      return hex;
    }
    notes.remove_prefix(end);
  }
  return "";
}

int visit_program(dl_phdr_info* info, std::size_t, void* out) {
  auto& id = *static_cast<std::string*>(out);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader tells addresses as integers.
    const auto* start = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
    id = find_build_id({start, segment.p_memsz});
    if (!id.empty()) break;
  }
  return 1;  // the first object is the program itself
}

std::string zmq_text() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  zmq_version(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

std::string dnnl_text() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

}  // namespace

std::string build_id() {
  std::string id;
  dl_iterate_phdr(visit_program, &id);
  return id.empty() ? "unknown" : id;
}

std::string version_text() {
  std::string text = fmt::format("sterna {}\nbuild {}\ncompiler {}\nisa {}\n", STERNA_VERSION,
                                 build_id(), __VERSION__, kernels::name(kernels::best_isa()));
  const auto library = [&](std::string_view name, std::string_view version) {
    text += fmt::format("{} {}\n", name, version);
  };
  library("libzmq", zmq_text());
  library("capnproto",
          fmt::format("{}.{}.{}", CAPNP_VERSION_MAJOR, CAPNP_VERSION_MINOR, CAPNP_VERSION_MICRO));
  library("libuv", uv_version_string());
  library("libsodium", sodium_version_string());
  library("oneDNN", dnnl_text());
  library("zlib", zlibVersion());
  library("libcurl", curl_version_info(CURLVERSION_NOW)->version);
  library("toml++", fmt::format("{}.{}.{}", TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH));
  library("fmt",
          fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100));
  library("CLI11", CLI11_VERSION);
  text += fmt::format("nlohmann-json {}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                      NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH);
  return text;
}

}  // namespace sterna::launcher
