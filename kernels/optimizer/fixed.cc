// lr0
#include "kernels/optimizer/schedule.h"

namespace sterna::kernels {

Schedule fixed_schedule() {
  return {"fixed", [](const Course& course, const Numbers&) -> LearningRate {
            return [initial = course.initial](std::uint64_t) { return initial; };
          }};
}

}  // namespace sterna::kernels
