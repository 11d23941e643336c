#include "actors/reader/preparing_meter.h"

#include <utility>

namespace sterna::actors {

void PreparingMeter::begin(Time now) {
  if (under_way_++ == 0) busy_since_ = now;
}

void PreparingMeter::end(std::uint64_t pictures, Time now) {
  pictures_ += pictures;
  busy_ += now - std::exchange(busy_since_, now);
  --under_way_;
}

std::optional<ReaderProgress> PreparingMeter::report(std::string reader, std::uint32_t threads,
                                                     std::uint64_t left_out, Time now) {
  const bool more = left_out > std::exchange(left_out_, left_out);
  if (!more && reported_at_ && now - *reported_at_ < kInterval) return std::nullopt;
  reported_at_ = now;
  return ReaderProgress{.reader = std::move(reader),
                        .pictures = pictures_,
                        .busy_seconds = std::chrono::duration<double>(busy_).count(),
                        .threads = threads,
                        .left_out = left_out};
}

}  // namespace sterna::actors
