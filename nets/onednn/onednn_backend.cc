#include "nets/onednn/onednn_backend.h"

#include <strings.h>

#include <cstdlib>
#include <dnnl.hpp>
#include <string>
#include <string_view>

#include "nets/onednn/primitive.h"

namespace sterna::nets {
namespace {

/// Whether libgomp was told not to spin. It has no call that answers this.
bool waits_passively() {
  const char* policy = std::getenv("OMP_WAIT_POLICY");
  const char* spins = std::getenv("GOMP_SPINCOUNT");
  return (policy != nullptr && strcasecmp(policy, "passive") == 0) ||
         (spins != nullptr && std::string_view(spins) == "0");
}

/// oneDNN takes a cap only before it first computes, and for the whole process.
Result<void> cap_isa(const std::string& isa) {
  if (isa == "best") return {};
  if (isa != "avx512" && isa != "avx2" && isa != "scalar")
    return Error{Errc::invalid_argument, "no instruction set is called \"" + isa + "\""};
  const auto cap = isa == "avx512" ? dnnl::cpu_isa::avx512_core
                   : isa == "avx2" ? dnnl::cpu_isa::avx2
                                   : dnnl::cpu_isa::sse41;
  if (dnnl::set_max_cpu_isa(cap) == dnnl::status::success) return {};
  // Each set's number has the bits of those that it includes.
  const auto used = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  if ((used & ~static_cast<unsigned>(cap)) == 0) return {};
  return Error{Errc::unavailable, "this process computes with more than " + isa + " already"};
}

}  // namespace

Result<std::unique_ptr<Backend>> OneDnnBackend::make(const BackendOptions& options) {
  if (options.threads < 1)
    return Error{Errc::invalid_argument,
                 "compute threads: " + std::to_string(options.threads) + "; at least 1 is needed"};
  if (options.threads > 1 && !waits_passively())
    return Error{Errc::invalid_argument,
                 "several compute threads need OMP_WAIT_POLICY=PASSIVE in the environment that the "
                 "program is started with; without it they spin while they wait"};
  STERNA_TRY(cap_isa(options.isa));
  try {
    return std::unique_ptr<Backend>(std::make_unique<OneDnnBackend>(options.threads));
  } catch (const std::exception& failure) {
    return Error{Errc::unavailable, std::string("oneDNN does not start: ") + failure.what()};
  }
}

OneDnnBackend::OneDnnBackend(int threads) : context_(std::make_unique<Context>(threads)) {}

OneDnnBackend::~OneDnnBackend() = default;

std::uint64_t OneDnnBackend::reorders() const { return context_->reorders; }

std::vector<std::string> OneDnnBackend::implementations() const {
  return context_->implementations;
}

}  // namespace sterna::nets
