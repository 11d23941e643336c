#include "launcher/commands/version.h"

#include <capnp/common.h>
#include <curl/curl.h>
#include <dnnl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <toml++/impl/version.h>
#include <uv.h>
#include <zlib.h>
#include <zmq.h>
#include <CLI/Version.hpp>

#include <nlohmann/detail/macro_scope.hpp>
#include <string_view>

#include "kernels/isa/isa.h"
#include "runtime/remote/build_id.h"

namespace sterna::launcher {
namespace {

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

std::string version_text() {
  std::string text = fmt::format("sterna {}\nbuild {}\ncompiler {}\nisa {}\n", STERNA_VERSION,
                                 own_build_id(), __VERSION__, kernels::name(kernels::best_isa()));
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
