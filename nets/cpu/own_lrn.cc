#include "nets/cpu/own_lrn.h"

#include <algorithm>
#include <vector>

#include "nets/cpu/lrn_passes.h"
#include "nets/tensor/elementwise.h"

namespace sterna::nets {
namespace {

class OwnLrn final : public Lrn {
 public:
  OwnLrn(const LrnSpec& spec, const LrnPasses& passes, const Team& team)
      : team_(team),
        passes_(passes),
        norm_{.channels = spec.input[1],
              .radius = spec.radius,
              .stride = spec.input[1] + kLrnSlack + 2 * spec.radius,
              .bias = spec.bias,
              .alpha = spec.alpha},
        at_once_(std::max<std::size_t>(1, kElementsAtOnce / spec.input[1])),
        room_(team.size()) {
    for (Room& room : room_) {
      room.x.resize(at_once_ * norm_.channels);
      room.dx.resize(room.x.size());
      room.squares.resize(at_once_ * norm_.stride);
      room.products.resize(room.squares.size());
    }
  }

  void forward(const Tensor& x, Tensor& y) override {
    for_some(x, [&](std::size_t first, std::size_t pixels, Room& room) {
      const std::span<float> values = std::span(room.x).first(pixels * norm_.channels);
      read(x, first, values);
      passes_.square(norm_, pixels, values.data(), room.squares.data());
      passes_.normalize(norm_, pixels, room.squares.data(), values.data());
      write(values, y, first);
    });
  }
  void backward(const Tensor& x, const Tensor& dy, Tensor& dx) override {
    for_some(x, [&](std::size_t first, std::size_t pixels, Room& room) {
      const std::span<float> values = std::span(room.x).first(pixels * norm_.channels);
      const std::span<float> gradient = std::span(room.dx).first(values.size());
      read(x, first, values);
      read(dy, first, gradient);
      passes_.square(norm_, pixels, values.data(), room.squares.data());
      passes_.scale(norm_, pixels, values.data(), room.squares.data(), gradient.data(),
                    room.products.data());
      passes_.subtract(norm_, pixels, values.data(), room.products.data(), gradient.data());
      write(gradient, dx, first);
    });
  }

 private:
  /// What a member of the team has in hand.
  struct Room {
    std::vector<float> x, dx, squares, products;
  };

  /// visit(the first element, pixels, the member's room)
  template <class Visit>
  void for_some(const Tensor& x, Visit visit) {
    const std::size_t pixels = x.size() / norm_.channels;
    team_.share(pixels, 16 * norm_.channels * bytes_of(x.element()),
                [&](std::size_t first, std::size_t end, std::size_t member) {
                  for (std::size_t i = first; i < end; i += at_once_) {
                    visit(i * norm_.channels, std::min(at_once_, end - i), room_[member]);
                  }
                });
  }

  Team team_;
  LrnPasses passes_;
  LrnRows norm_;
  std::size_t at_once_;     // pixels
  std::vector<Room> room_;  // by member
};

}  // namespace

std::unique_ptr<Lrn> make_own_lrn(const LrnSpec& spec, kernels::Isa isa, const Team& team) {
  if (spec.beta != 0.75F) return nullptr;
  if (spec.element == Element::bf16)
    return std::make_unique<OwnLrn>(spec, lrn_passes_avx512(), team);
  if (isa != kernels::Isa::avx2) return nullptr;
  return std::make_unique<OwnLrn>(spec, lrn_passes_avx2(), team);
}

}  // namespace sterna::nets
