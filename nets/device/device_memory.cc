#include "nets/device/device_memory.h"

#include <algorithm>
#include <vector>

#include "kernels/sums/bf16.h"

namespace sterna::nets {

using kernels::ElementLaunch;
using kernels::ElementPass;

std::shared_ptr<std::byte> DeviceMemory::allocate(std::size_t bytes) {
  void* const memory = must(context_.device->allocate(bytes));
  return {static_cast<std::byte*>(memory), [this](std::byte* released) {
            finish();  // what is under way may still use it
            context_.device->release(released);
          }};
}

void DeviceMemory::finish() noexcept { static_cast<void>(context_.stream->finish()); }

void DeviceMemory::expect_images(std::size_t pixels, std::size_t levels) {
  pixels_.expect(context_, pixels);
  levels_.expect(context_, levels);
}

void DeviceMemory::write(std::span<const float> values, Tensor& to, std::size_t first) {
  const float* const sent = values_.send(context_, values);
  if (to.element() == Element::bf16) {
    return context_.run(
        kernels::RoundLaunch{.from = sent, .to = to.bf16() + first, .count = values.size()});
  }
  must(context_.stream->copy(to.data() + first, sent, values.size_bytes()));
}

void DeviceMemory::write(const PixelImages& images, std::size_t count, std::size_t channels,
                         Tensor& to) {
  const std::uint8_t* const pixels = pixels_.send(context_, images.pixels);
  const float* const levels = levels_.send(context_, images.levels);
  context_.run(kernels::PixelLaunch{.pixels = pixels,
                                    .levels = levels,
                                    .out = numbers(to),
                                    .image = images.pixels.size() / count,
                                    .channels = channels,
                                    .images = count});
}

void DeviceMemory::read(const Tensor& from, std::size_t first, std::span<float> out) {
  if (from.element() == Element::bf16) {
    std::vector<std::uint16_t> bits(out.size());
    must(context_.stream->copy(bits.data(), from.bf16() + first, bits.size() * sizeof(bits[0])));
    must(context_.stream->finish());
    std::ranges::transform(bits, out.begin(), kernels::from_bf16);
    return;
  }
  must(context_.stream->copy(out.data(), from.data() + first, out.size_bytes()));
  must(context_.stream->finish());
}

void DeviceMemory::copy(const Tensor& from, Tensor& to) {
  if (from.memory() == to.memory()) return;
  must(context_.stream->copy(to.memory(), from.memory(), from.bytes()));
}

void DeviceMemory::copy(const Tensor& from, const kernels::Runs& runs, Tensor& to) {
  context_.run(kernels::RunLaunch{.from = numbers(from), .to = numbers(to), .runs = runs});
}

void DeviceMemory::clear(Tensor& to, std::size_t first) {
  context_.run(ElementLaunch{
      .pass = ElementPass::clear, .out = numbers(to).from(first), .count = to.size() - first});
}

void DeviceMemory::add(const Tensor& a, const Tensor& b, Tensor& out) {
  context_.run(ElementLaunch{.pass = ElementPass::add,
                             .a = numbers(a),
                             .b = numbers(b),
                             .out = numbers(out),
                             .count = a.size()});
}

void DeviceMemory::scale(Tensor& a, float factor) {
  context_.run(ElementLaunch{.pass = ElementPass::scale,
                             .a = numbers(a),
                             .out = numbers(a),
                             .count = a.size(),
                             .factor = factor});
}

}  // namespace sterna::nets
