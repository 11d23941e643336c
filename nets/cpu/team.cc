#include "nets/cpu/team.h"

// Debian's oneDNN runs on libgomp; LLVM's and Intel's OpenMP know these names too. Declared here
// because clang has no omp.h for it, and would begin a team of another library.
extern "C" {
void GOMP_parallel(void (*member)(void*), void* data, unsigned threads, unsigned flags);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
}

namespace sterna::nets {

std::size_t Team::members_for(std::size_t count, std::size_t bytes) const {
  return count * bytes < 2 * kLeastBytes ? 1 : size_;
}

void Team::run(std::size_t count, std::size_t members, Part part, const void* context) {
  if (members <= 1) return part(context, 0, count, 0);
  struct Shared {
    std::size_t count;
    Part part;
    const void* context;
  } shared{count, part, context};
  GOMP_parallel(
      [](void* data) {
        const Shared& all = *static_cast<const Shared*>(data);
        // OpenMP may have given fewer.
        const auto members = static_cast<std::size_t>(omp_get_num_threads());
        const auto member = static_cast<std::size_t>(omp_get_thread_num());
        const std::size_t first = all.count * member / members;
        const std::size_t end = all.count * (member + 1) / members;
        if (first < end) all.part(all.context, first, end, member);
      },
      &shared, static_cast<unsigned>(members), 0);
}

}  // namespace sterna::nets
