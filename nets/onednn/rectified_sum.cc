#include "nets/backend/rectified_sum.h"

#include "nets/cpu/rectified_sum.h"
#include "nets/onednn/primitive.h"

namespace sterna::nets {

std::unique_ptr<RectifiedSum> OneDnnBackend::rectified_sum(const RectifiedSumSpec& spec) {
  return make_rectified_sum(spec, Team(context_->threads));
}

}  // namespace sterna::nets
