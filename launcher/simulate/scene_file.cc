#include "launcher/simulate/scene_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace sterna::launcher {

namespace {

// Each draw is a statement of its own: compilers differ in the order of a call's arguments.

int draw_steps(Drawer& draw) { return draw.once_in(3) ? 12 : 30; }
int draw_every(Drawer& draw) { return draw.once_in(2) ? 3 : 10; }

/// Of those who come again.
std::string draw_pause(Drawer& draw) {
  const std::array backoffs = {"1ms", "20ms", "200ms"};
  const char* backoff = draw.one_of(backoffs);
  const char* within = draw.once_in(4) ? "10m" : "500ms";
  return fmt::format("within = \"{}\"\nbackoff = \"{}\"\n", within, backoff);
}

struct Patience {
  const char* link;
  const char* silence;
};
Patience draw_patience(Drawer& draw) {
  const char* link = draw.once_in(2) ? "30s" : "4s";
  return {link, draw.once_in(2) ? "5s" : "2s"};
}

}  // namespace

std::string draw_file(Drawer& draw, std::string& job) {
  const std::uint64_t workers = draw.between(1, 3);
  const std::uint64_t ranks = draw.between(1, 2);
  const std::uint64_t hosts = draw.between(1, 3);
  const std::array codecs = {"ternary", "ternary", "ternary", "none", "ternary_entropy", "bf16"};
  const std::array scalers = {"own", "shared", "mean"};
  const std::array optimizers = {"momentum", "adam"};
  const std::string codec = draw.one_of(codecs), scaler = draw.one_of(scalers);
  // Only sums of trits of one scaler may travel down.
  const bool trits = codec.starts_with("ternary"), sums = trits && scaler != "own";
  const char* down = draw.once_in(3) ? "parameters_bf16" : "parameters";
  if (trits && draw.once_in(4)) down = "ternary";
  if (sums && draw.once_in(2)) down = "average";
  const bool ternary_down = std::string_view(down) == "ternary";
  const bool feedback = !ternary_down || !draw.once_in(2);
  const int every = draw_every(draw);
  const std::string optimizer = draw.one_of(optimizers);
  const std::uint64_t seed = draw.between(1, 2);
  const int steps = draw_steps(draw);
  job = fmt::format(
      "[job]\nnet = \"mlp\"\nhidden = [8]\nsteps = {}\nbatch = 2\nseed = {}\ncpu_isa = "
      "\"avx2\"\n\n[data]\nname = \"synthetic\"\nsize = 28\nchannels = 1\n\n[optimizer]\nname = "
      "\"{}\"\nlearning_rate = 0.01\n\n[gradient]\nmin_size = 1\ncodec = \"{}\"\nscaler = "
      "\"{}\"\ndown = \"{}\"\ndown_feedback = {}\n\n[evaluator]\nevery = {}\nexamples = 8\nbatch = "
      "8\n",
      steps, seed, optimizer, codec, scaler, down, feedback, every);
  const std::string again = fmt::format("restart = {}\n{}", kRestarts, draw_pause(draw));
  const Patience patience = draw_patience(draw);
  std::string file = fmt::format(
      "format = 1\n\n[cluster]\nname = \"simulated\"\ntransport = \"tcp\"\nsecurity = "
      "\"none\"\nheartbeat = \"500ms\"\nsilence = \"{}\"\nlink_patience = "
      "\"{}\"\ncoordinator_restarts = {}\n\n",
      patience.silence, patience.link, kRestarts);
  for (std::uint64_t i = 0; i < hosts; ++i) {
    file += fmt::format("[[host]]\nname = \"h{}\"\n\n", i);
  }
  file += fmt::format("[[actor]]\nrole = \"parameter_server\"\ncount = {}\n", draw.between(1, 2));
  const bool alone_again = std::string_view(down) == "average" || (ternary_down && !feedback);
  file += draw.once_in(3) ? "replicas = 1\n" + again + "\n" : alone_again ? again + "\n" : "\n";
  file += fmt::format("[[actor]]\nrole = \"worker\"\ncount = {}\nranks = {}\n{}\n", workers, ranks,
                      again);
  file += fmt::format("[[actor]]\nrole = \"input_reader\"\ncount = {}\n{}\n", draw.between(1, 2),
                      again);
  file += fmt::format("[[actor]]\nrole = \"evaluator\"\n{}\n", again);
  file += job;
  job += fmt::format("ranks = {}\n", workers * ranks);
  return file;
}

std::string draw_file_apart(Drawer& draw) {
  const std::array schemes = {"sync",     "sync", "async", "async",
                              "downpour", "agn",  "sagn",  "local_sgd"};
  const std::string scheme = draw.one_of(schemes);
  const bool quorum = scheme == "sync", async = scheme == "async";
  const std::uint64_t workers = draw.between(quorum ? 2 : 1, 3);
  const std::uint64_t ranks = draw.between(1, 2);
  const std::uint64_t hosts = draw.between(1, 3);
  std::string chosen = fmt::format("[scheme]\nname = \"{}\"\n", scheme);
  if (quorum) chosen += fmt::format("quorum = {}\n", draw.between(1, workers * ranks - 1));
  if (async && draw.once_in(2)) chosen += fmt::format("max_staleness = {}\n", draw.below(3));
  if (async && draw.once_in(2)) chosen += "staleness_weight = \"inverse\"\n";
  if (!quorum && !async) {
    chosen += fmt::format("window = {}\n\n[local_optimizer]\nname = \"gd\"\n", draw.between(1, 3));
  }
  const std::array codecs = {"ternary", "none", "ternary_entropy", "bf16"};
  const std::string codec = draw.one_of(codecs);
  const bool feedback = codec != "none" && draw.once_in(2);
  const bool last = quorum && codec.starts_with("ternary") && draw.once_in(2);
  // Of workers that may be missed some do not come again.
  const bool may_be_missed = quorum && draw.once_in(3);
  const std::string pause = draw_pause(draw);
  const Patience patience = draw_patience(draw);
  const std::string again = fmt::format("restart = {}\n{}", kRestarts, pause);
  std::string file = fmt::format(
      "format = 1\n\n[cluster]\nname = \"simulated\"\ntransport = \"tcp\"\nsecurity = "
      "\"none\"\nheartbeat = \"500ms\"\nsilence = \"{}\"\nlink_patience = "
      "\"{}\"\ncoordinator_restarts = {}\nlost_host = \"{}\"\n\n",
      patience.silence, patience.link, kRestarts, may_be_missed ? "quorum" : "move");
  for (std::uint64_t i = 0; i < hosts; ++i) {
    file += fmt::format("[[host]]\nname = \"h{}\"\n\n", i);
  }
  file += fmt::format("[[actor]]\nrole = \"parameter_server\"\ncount = {}\n", draw.between(1, 2));
  file += !last && draw.once_in(2) ? "replicas = 1\n" + again + "\n" : "\n";
  file += fmt::format("[[actor]]\nrole = \"worker\"\ncount = {}\nranks = {}\n{}\n", workers, ranks,
                      may_be_missed ? "restart = 3\n" + pause : again);
  file += fmt::format("[[actor]]\nrole = \"input_reader\"\ncount = {}\n{}\n", draw.between(1, 2),
                      again);
  file += fmt::format("[[actor]]\nrole = \"evaluator\"\n{}\n", again);
  const int every = draw_every(draw);
  const char* down = draw.once_in(3) ? "parameters_bf16" : "parameters";
  const std::uint64_t seed = draw.between(1, 2);
  const int steps = draw_steps(draw);
  return file + chosen +
         fmt::format(
             "\n[job]\nnet = \"mlp\"\nhidden = [8]\nsteps = {}\nbatch = 2\nseed = {}\ncpu_isa = "
             "\"avx2\"\n\n[data]\nname = \"synthetic\"\nsize = 28\nchannels = 1\n\n[optimizer]\n"
             "name = \"momentum\"\nlearning_rate = 0.01\n\n[gradient]\nmin_size = 1\ncodec = "
             "\"{}\"\nscaler = \"{}\"\ndown = \"{}\"\nerror_feedback = {}\n\n[evaluator]\nevery = "
             "{}\nexamples = 8\nbatch = 8\n",
             steps, seed, codec, last ? "last_step" : "own", down, feedback, every);
}

}  // namespace sterna::launcher
