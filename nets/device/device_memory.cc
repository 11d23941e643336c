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
  if (images_.inbox && pixels <= images_.pixels && levels <= images_.levels) return;
  images_.pixels = std::max(images_.pixels, pixels);
  images_.levels = std::max(images_.levels, levels);
  images_.inbox.emplace(context_, images_.pixels, images_.levels);
}

void DeviceMemory::write(std::span<const float> values, Tensor& to, std::size_t first) {
  if (values.empty()) return;
  if (values.size() > values_.most) {
    values_.inbox.emplace(context_, values.size());
    values_.most = values.size();
  }
  const float* const sent = values_.inbox->send(values);
  if (to.element() == Element::bf16) {
    return context_.run(
        kernels::RoundLaunch{.from = sent, .to = to.bf16() + first, .count = values.size()});
  }
  must(context_.stream->copy(to.data() + first, sent, values.size_bytes()));
}

void DeviceMemory::stage(const PixelImages& images) {
  expect_images(images.pixels.size(), images.levels.size());
  images_.inbox->send(images);
}

void DeviceMemory::write_staged(std::size_t count, std::size_t channels, Tensor& to) {
  images_.inbox->write(count, channels, numbers(to));
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
