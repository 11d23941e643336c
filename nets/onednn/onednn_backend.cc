#include "nets/onednn/onednn_backend.h"

#include <strings.h>

#include <cstdlib>
#include <dnnl.hpp>
#include <string>
#include <string_view>

#include "nets/backend/repeated_pass.h"
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
Result<void> cap_isa(const std::string& isa, Element precision) {
  if (isa == "best") return {};
  if (isa != "avx512" && isa != "avx2" && isa != "scalar")
    return Error{Errc::invalid_argument, "no instruction set is called \"" + isa + "\""};
  const auto avx512 =
      precision == Element::bf16 ? dnnl::cpu_isa::avx512_core_bf16 : dnnl::cpu_isa::avx512_core;
  const auto cap = isa == "avx512" ? avx512
                   : isa == "avx2" ? dnnl::cpu_isa::avx2
                                   : dnnl::cpu_isa::sse41;
  if (dnnl::set_max_cpu_isa(cap) == dnnl::status::success) return {};
  // Each set's number has the bits of those that it includes.
  const auto used = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  if ((used & ~static_cast<unsigned>(cap)) == 0) return {};
  return Error{Errc::unavailable, "this process computes with more than " + isa + " already"};
}

/// Whether oneDNN may use the instructions that bf16 is computed with; without them it would take
/// several times as long as in fp32. AMX includes AVX512-BF16.
Result<void> check_bf16(const std::string& isa) {
  constexpr auto kNeeded = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
  if ((static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & kNeeded) == kNeeded) return {};
  if (isa == "avx2" || isa == "scalar") {
    return Error{Errc::unavailable,
                 "job.precision = \"bf16\": job.cpu_isa = \"" + isa +
                     "\" leaves out the instructions that compute with bf16; set job.cpu_isa = "
                     "\"best\", or job.precision = \"fp32\""};
  }
  return Error{Errc::unavailable,
               "job.precision = \"bf16\": this CPU has neither AMX nor AVX512-BF16; set "
               "job.precision = \"fp32\", or compute on a GPU, or where a CPU has them"};
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
  STERNA_TRY(cap_isa(options.isa, options.precision));
  if (options.precision == Element::bf16) STERNA_TRY(check_bf16(options.isa));
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

std::unique_ptr<RepeatedPass> OneDnnBackend::repeated_pass() { return nullptr; }

}  // namespace sterna::nets
