#include "nets/onednn/primitive.h"

// Debian's oneDNN runs on libgomp. Declared here because clang has no omp.h for it.
extern "C" {
void omp_set_num_threads(int threads);
int omp_get_max_threads(void);
}

namespace sterna::nets {
namespace {

dnnl::reorder::primitive_desc reorder_between(const dnnl::engine& engine, const Descriptor& from,
                                              const Descriptor& to) {
  return {engine, from, engine, to, attributes()};
}

bool may_use(dnnl::cpu_isa isa) {
  const auto needed = static_cast<unsigned>(isa);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & needed) == needed;
}

}  // namespace

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

kernels::Isa usable_isa() {
  if (may_use(dnnl::cpu_isa::avx512_core)) return kernels::Isa::avx512;
  return may_use(dnnl::cpu_isa::avx2) ? kernels::Isa::avx2 : kernels::Isa::scalar;
}

TeamSize::TeamSize(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
TeamSize::~TeamSize() { omp_set_num_threads(before_); }

void Primitive::run() {
  const TeamSize team(context_.threads);
  if (scratch_size_ > 0)
    arguments_.at(DNNL_ARG_SCRATCHPAD).set_data_handle(context_.scratch.data());
  primitive_.execute(context_.stream, arguments_);
  context_.stream.wait();
}

Reorder::Reorder(OneDnnBackend::Context& context, const Descriptor& from, const Descriptor& to)
    : context_(context),
      primitive_(context, reorder_between(context.engine, from, to),
                 dnnl::reorder(reorder_between(context.engine, from, to))) {
  primitive_.add(DNNL_ARG_FROM, from).add(DNNL_ARG_TO, to);
}

void Reorder::run(const void* from, void* to) {
  primitive_.bind_memory(DNNL_ARG_FROM, from).bind_memory(DNNL_ARG_TO, to).run();
  ++context_.reorders;
}

}  // namespace sterna::nets
