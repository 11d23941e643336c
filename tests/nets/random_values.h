// Values for tests: doubles that fp32 holds exactly, so that both sides compute on the same input.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nets/tensor/elementwise.h"
#include "nets/tensor/tensor.h"
#include "runtime/base/random.h"

namespace sterna::nets {

/// Uniform in [-scale, scale).
inline std::vector<double> random_values(std::size_t count, double scale, Random& random) {
  std::vector<double> values(count);
  for (double& value : values)
    value = static_cast<float>((static_cast<double>(random.next() >> 11) * 0x1p-52 - 1.0) * scale);
  return values;
}

/// Position in a channels-last tensor of element `index` of the same tensor in row-major order.
inline std::size_t channels_last(const Shape& shape, std::size_t index) {
  const std::size_t plane = shape[2] * shape[3];
  const std::size_t n = index / (shape[1] * plane), c = index / plane % shape[1];
  return (n * plane + index % plane) * shape[1] + c;
}

/// A tensor of `shape` from values in row-major order.
inline Tensor tensor(const Shape& shape, Layout layout, std::span<const double> values,
                     Element element = Element::fp32) {
  Tensor result(shape, layout, element);
  std::vector<float> in_place(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    in_place[layout == Layout::channels_last ? channels_last(shape, i) : i] =
        static_cast<float>(values[i]);
  write(in_place, result, 0);
  return result;
}

/// The tensor's values in row-major order.
inline std::vector<double> row_major(const Tensor& tensor) {
  std::vector<float> in_place(tensor.size());
  read(tensor, 0, in_place);
  std::vector<double> values(tensor.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] =
        in_place[tensor.layout() == Layout::channels_last ? channels_last(tensor.shape(), i) : i];
  return values;
}

/// To the nearest bf16s.
inline std::vector<double> rounded_to_bf16(const std::vector<double>& values) {
  return row_major(tensor({values.size()}, Layout::row_major, values, Element::bf16));
}

}  // namespace sterna::nets
