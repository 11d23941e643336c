#include "tests/nets/reference.h"

#include <algorithm>
#include <cmath>

namespace sterna::nets::reference {
namespace {

/// Calls visit(input index, weight index, output index) for each product of a convolution.
template <class Visit>
void each_product(const Shape& in, std::size_t outputs, const Window& window, std::size_t groups,
                  Visit visit) {
  const std::size_t batch = in[0], height = in[2], width = in[3];
  const std::size_t channels = in[1] / groups;  // that an output sees
  const Slide down = window.down(), across = window.across();
  const std::size_t rows = down.out(height), columns = across.out(width);
  for (std::size_t n = 0; n < batch; ++n)
    for (std::size_t o = 0; o < outputs; ++o)
      for (std::size_t c = 0; c < channels; ++c)
        for (std::size_t i = 0; i < down.kernel; ++i)
          for (std::size_t j = 0; j < across.kernel; ++j)
            for (std::size_t r = 0; r < rows; ++r) {
              const std::size_t y = r * window.stride + i - window.down().before(height);
              if (y >= height) continue;  // above the image, it wrapped round
              for (std::size_t s = 0; s < columns; ++s) {
                const std::size_t x = s * window.stride + j - window.across().before(width);
                if (x >= width) continue;
                const std::size_t channel = o / (outputs / groups) * channels + c;
                visit(((n * in[1] + channel) * height + y) * width + x,
                      ((o * channels + c) * down.kernel + i) * across.kernel + j,
                      ((n * outputs + o) * rows + r) * columns + s);
              }
            }
}

/// Calls visit(output index, the input indices of the pixels that it covers) for each window.
template <class Visit>
void each_window(const Shape& in, const Window& window, Visit visit) {
  const std::size_t height = in[2], width = in[3];
  const Slide down = window.down(), across = window.across();
  std::size_t output = 0;
  std::vector<std::size_t> pixels;
  for (std::size_t plane = 0; plane < in[0] * in[1]; ++plane)
    for (std::size_t r = 0; r < down.out(height); ++r)
      for (std::size_t s = 0; s < across.out(width); ++s) {
        pixels.clear();
        for (std::size_t i = 0; i < down.kernel; ++i)
          for (std::size_t j = 0; j < across.kernel; ++j) {
            const std::size_t a = r * window.stride + i - down.before(height);
            const std::size_t b = s * window.stride + j - across.before(width);
            if (a >= height || b >= width) continue;  // above the image, it wrapped round
            pixels.push_back((plane * height + a) * width + b);
          }
        visit(output++, pixels);
      }
}

/// The input index of the first maximum of each window.
std::vector<std::size_t> winners(const Values& x, const Shape& in, const Window& window) {
  std::vector<std::size_t> result;
  each_window(in, window, [&](std::size_t, const std::vector<std::size_t>& pixels) {
    std::size_t best = pixels.front();
    for (const std::size_t at : pixels)
      if (x[at] > x[best]) best = at;
    result.push_back(best);
  });
  return result;
}

/// What the mean of a window divides by.
double mean_of(const std::vector<std::size_t>& pixels, const Window& window, bool counts_padding) {
  const std::size_t all = window.down().kernel * window.across().kernel;
  return static_cast<double>(counts_padding ? all : pixels.size());
}

/// Calls visit(element, neighbour) for each element and those of its pixel, itself among them,
/// whose channels are at most `radius` away.
template <class Visit>
void each_neighbour(const Shape& shape, std::size_t radius, Visit visit) {
  const std::size_t channels = shape[1], plane = shape[2] * shape[3];
  for (std::size_t i = 0; i < element_count(shape); ++i) {
    const std::size_t c = i / plane % channels;
    for (std::size_t other = 0; other < channels; ++other) {
      if (other + radius < c || other > c + radius) continue;
      visit(i, i + other * plane - c * plane);
    }
  }
}

/// bias + alpha · Σ x² of each element.
Values lrn_sums(const Values& x, const Shape& shape, const Lrn& options) {
  Values sums(x.size(), options.bias);
  each_neighbour(shape, options.radius, [&](std::size_t i, std::size_t other) {
    sums[i] += options.alpha * x[other] * x[other];
  });
  return sums;
}

}  // namespace

Values convolution(const Values& x, const Shape& shape, const Values& w, const Values& b,
                   std::size_t outputs, const Window& window, std::size_t groups) {
  const std::size_t plane = window.down().out(shape[2]) * window.across().out(shape[3]);
  Values y(shape[0] * outputs * plane);
  for (std::size_t i = 0; i < y.size() && !b.empty(); ++i) y[i] = b[i / plane % outputs];
  each_product(
      shape, outputs, window, groups,
      [&](std::size_t in, std::size_t weight, std::size_t out) { y[out] += x[in] * w[weight]; });
  return y;
}

Gradients convolution_backward(const Values& x, const Shape& shape, const Values& w,
                               const Values& dy, std::size_t outputs, const Window& window,
                               std::size_t groups) {
  Gradients d{Values(x.size()), Values(w.size()), Values(outputs)};
  const std::size_t plane = window.down().out(shape[2]) * window.across().out(shape[3]);
  for (std::size_t i = 0; i < dy.size(); ++i) d.b[i / plane % outputs] += dy[i];
  each_product(shape, outputs, window, groups,
               [&](std::size_t in, std::size_t weight, std::size_t out) {
                 d.x[in] += dy[out] * w[weight];
                 d.w[weight] += dy[out] * x[in];
               });
  return d;
}

Values inner_product(const Values& x, std::size_t batch, const Values& w, const Values& b) {
  const std::size_t in = x.size() / batch, out = w.size() / in;
  Values y(batch * out);
  for (std::size_t n = 0; n < batch; ++n)
    for (std::size_t o = 0; o < out; ++o) {
      double sum = b.empty() ? 0 : b[o];
      for (std::size_t i = 0; i < in; ++i) sum += w[o * in + i] * x[n * in + i];
      y[n * out + o] = sum;
    }
  return y;
}

Gradients inner_product_backward(const Values& x, std::size_t batch, const Values& w,
                                 const Values& dy) {
  const std::size_t in = x.size() / batch, out = dy.size() / batch;
  Gradients d{Values(x.size()), Values(w.size()), Values(out)};
  for (std::size_t n = 0; n < batch; ++n)
    for (std::size_t o = 0; o < out; ++o) {
      const double g = dy[n * out + o];
      d.b[o] += g;
      for (std::size_t i = 0; i < in; ++i) {
        d.w[o * in + i] += g * x[n * in + i];
        d.x[n * in + i] += g * w[o * in + i];
      }
    }
  return d;
}

Values max_pool(const Values& x, const Shape& shape, const Window& window) {
  Values y;
  for (const std::size_t winner : winners(x, shape, window)) y.push_back(x[winner]);
  return y;
}

Values max_pool_backward(const Values& x, const Shape& shape, const Values& dy,
                         const Window& window) {
  Values dx(x.size());
  const auto winner = winners(x, shape, window);
  for (std::size_t i = 0; i < winner.size(); ++i) dx[winner[i]] += dy[i];
  return dx;
}

Values average_pool(const Values& x, const Shape& in, const Window& window, bool counts_padding) {
  Values y;
  each_window(in, window, [&](std::size_t, const std::vector<std::size_t>& pixels) {
    double sum = 0;
    for (const std::size_t at : pixels) sum += x[at];
    y.push_back(sum / mean_of(pixels, window, counts_padding));
  });
  return y;
}

Values average_pool_backward(const Values& dy, const Shape& in, const Window& window,
                             bool counts_padding) {
  Values dx(element_count(in));
  each_window(in, window, [&](std::size_t output, const std::vector<std::size_t>& pixels) {
    for (const std::size_t at : pixels)
      dx[at] += dy[output] / mean_of(pixels, window, counts_padding);
  });
  return dx;
}

Values lrn(const Values& x, const Shape& shape, const Lrn& options) {
  Values y = lrn_sums(x, shape, options);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] / std::pow(y[i], options.beta);
  return y;
}

Values lrn_backward(const Values& x, const Shape& shape, const Lrn& options, const Values& dy) {
  const Values sums = lrn_sums(x, shape, options);
  Values dx(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) dx[i] = dy[i] / std::pow(sums[i], options.beta);
  each_neighbour(shape, options.radius, [&](std::size_t i, std::size_t other) {
    dx[other] -= 2 * options.alpha * options.beta * x[other] * x[i] * dy[i] /
                 std::pow(sums[i], options.beta + 1);
  });
  return dx;
}

Moments moments(const Values& x, const Shape& shape) {
  const std::size_t channels = shape[1], plane = shape[2] * shape[3];
  const auto count = static_cast<double>(shape[0] * plane);
  Moments found{Values(channels), Values(channels)};
  for (std::size_t i = 0; i < x.size(); ++i) found.mean[i / plane % channels] += x[i] / count;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double away = x[i] - found.mean[i / plane % channels];
    found.variance[i / plane % channels] += away * away / count;
  }
  return found;
}

Values normalize(const Values& x, const Shape& shape, const Moments& by, double epsilon,
                 const Values& scale, const Values& shift) {
  Values y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i / (shape[2] * shape[3]) % shape[1];
    y[i] = scale[c] * (x[i] - by.mean[c]) / std::sqrt(by.variance[c] + epsilon) + shift[c];
  }
  return y;
}

Gradients normalize_backward(const Values& x, const Shape& shape, double epsilon,
                             const Values& scale, const Values& dy) {
  const std::size_t channels = shape[1];
  const Moments by = moments(x, shape);
  const Values ones(channels, 1), zeros(channels);
  const Values normal = normalize(x, shape, by, epsilon, ones, zeros);
  const auto count = static_cast<double>(shape[0] * shape[2] * shape[3]);
  const auto channel = [&](std::size_t i) { return i / (shape[2] * shape[3]) % channels; };
  Gradients d{Values(x.size()), Values(channels), Values(channels)};
  for (std::size_t i = 0; i < x.size(); ++i) {
    d.w[channel(i)] += dy[i] * normal[i];
    d.b[channel(i)] += dy[i];
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = channel(i);
    d.x[i] = scale[c] / std::sqrt(by.variance[c] + epsilon) *
             (dy[i] - d.b[c] / count - normal[i] * d.w[c] / count);
  }
  return d;
}

Values concat(const Values& a, const Shape& shape, const Values& b, std::size_t more) {
  const std::size_t plane = shape[2] * shape[3], first = shape[1] * plane, second = more * plane;
  Values y;
  for (std::size_t n = 0; n < shape[0]; ++n) {
    for (std::size_t i = 0; i < first; ++i) y.push_back(a[n * first + i]);
    for (std::size_t i = 0; i < second; ++i) y.push_back(b[n * second + i]);
  }
  return y;
}

Values subsample(const Values& x, const Shape& shape, std::size_t channels, std::size_t stride) {
  Values y;
  for (std::size_t n = 0; n < shape[0]; ++n)
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t r = 0; r < shape[2]; r += stride)
        for (std::size_t s = 0; s < shape[3]; s += stride)
          y.push_back(c < shape[1] ? x[((n * shape[1] + c) * shape[2] + r) * shape[3] + s] : 0.0);
  return y;
}

Values sigmoid(const Values& x) {
  Values y;
  for (const double value : x) y.push_back(1 / (1 + std::exp(-value)));
  return y;
}

Values sigmoid_backward(const Values& x, const Values& dy) {
  Values dx = sigmoid(x);
  for (std::size_t i = 0; i < dx.size(); ++i) dx[i] *= dy[i] * (1 - dx[i]);
  return dx;
}

Values relu(const Values& x) {
  Values y(x);
  for (double& value : y) value = std::max(value, 0.0);
  return y;
}

Values relu_backward(const Values& x, const Values& dy) {
  Values dx(dy);
  for (std::size_t i = 0; i < dx.size(); ++i)
    if (x[i] <= 0) dx[i] = 0;
  return dx;
}

double cross_entropy(const Values& logits, std::span<const std::uint16_t> labels, Values* gradient,
                     const CrossEntropy& options) {
  const std::size_t batch = labels.size(), classes = logits.size() / batch;
  const double even = options.smoothing / static_cast<double>(classes);
  const double share = options.weight / static_cast<double>(batch);
  if (gradient != nullptr) gradient->assign(logits.size(), 0);
  double loss = 0;
  for (std::size_t n = 0; n < batch; ++n) {
    double sum = 0;
    for (std::size_t k = 0; k < classes; ++k) sum += std::exp(logits[n * classes + k]);
    for (std::size_t k = 0; k < classes; ++k) {
      const double target = even + (k == labels[n] ? 1 - options.smoothing : 0);
      const double logit = logits[n * classes + k];
      loss += share * target * (std::log(sum) - logit);
      if (gradient != nullptr)
        (*gradient)[n * classes + k] = share * (std::exp(logit) / sum - target);
    }
  }
  return loss;
}

double lenet(const std::vector<Values>& p, const Values& images,
             std::span<const std::uint16_t> labels, std::vector<Values>* gradients) {
  const std::size_t n = labels.size();
  const Window five{.kernel = 5, .stride = 1, .padding = Padding::same};
  const Window halve{.kernel = 2, .stride = 2, .padding = Padding::same};
  const Shape s0{n, 1, 28, 28}, s1{n, 20, 28, 28}, s2{n, 20, 14, 14}, s3{n, 50, 14, 14};

  // In the order of the original: each ReLU right after its convolution.
  const Values c1 = convolution(images, s0, p[0], p[1], 20, five), r1 = relu(c1);
  const Values m1 = max_pool(r1, s1, halve);
  const Values c2 = convolution(m1, s2, p[2], p[3], 50, five), r2 = relu(c2);
  const Values m2 = max_pool(r2, s3, halve);
  const Values f3 = inner_product(m2, n, p[4], p[5]), r3 = relu(f3);
  const Values logits = inner_product(r3, n, p[6], p[7]);
  if (gradients == nullptr) return cross_entropy(logits, labels);

  Values dlogits;
  const double loss = cross_entropy(logits, labels, &dlogits);
  Gradients g4 = inner_product_backward(r3, n, p[6], dlogits);
  Gradients g3 = inner_product_backward(m2, n, p[4], relu_backward(f3, g4.x));
  Gradients g2 = convolution_backward(
      m1, s2, p[2], relu_backward(c2, max_pool_backward(r2, s3, g3.x, halve)), 50, five);
  Gradients g1 = convolution_backward(
      images, s0, p[0], relu_backward(c1, max_pool_backward(r1, s1, g2.x, halve)), 20, five);
  *gradients = {g1.w, g1.b, g2.w, g2.b, g3.w, g3.b, g4.w, g4.b};
  return loss;
}

double mlp(const std::vector<Values>& p, const Values& images,
           std::span<const std::uint16_t> labels, std::vector<Values>* gradients) {
  const std::size_t n = labels.size(), layers = p.size() / 2;
  std::vector<Values> inputs = {images}, outputs;  // by layer; outputs before their ReLU
  for (std::size_t i = 0; i < layers; ++i) {
    outputs.push_back(inner_product(inputs[i], n, p[2 * i], p[2 * i + 1]));
    inputs.push_back(relu(outputs[i]));
  }
  if (gradients == nullptr) return cross_entropy(outputs.back(), labels);

  Values dy;
  const double loss = cross_entropy(outputs.back(), labels, &dy);
  gradients->resize(p.size());
  for (std::size_t i = layers; i-- > 0;) {
    Gradients g = inner_product_backward(inputs[i], n, p[2 * i], dy);
    (*gradients)[2 * i] = g.w;
    (*gradients)[2 * i + 1] = g.b;
    if (i > 0) dy = relu_backward(outputs[i - 1], g.x);
  }
  return loss;
}

}  // namespace sterna::nets::reference
