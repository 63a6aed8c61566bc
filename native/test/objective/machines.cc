#include "test/objective/loads.h"

namespace nereid::objective {
namespace {

constexpr double kUs = 1e3;
constexpr double kMs = 1e6;

}  // namespace

// Measured with ONNX Runtime 1.29, one thread, the fastest tenth of the executions, the requests of
// a batch in one tensor: `mlp` is the bundled digits model, `minilm` all-MiniLM-L6-v2 in eight bits
// with 16 tokens. `detector` stands for the detection of text (PP-OCR): a network of the same kind
// and size, with weights of chance, on 320 x 320. `gpu` was not measured: it takes the same up to
// 16 rows, and in proportion beyond.
std::vector<Machine> Machines() {
  std::vector<Machine> machines;
  machines.push_back({.name = "mlp",
                      .costs = {{1, 2.2 * kUs},
                                {2, 2.3 * kUs},
                                {4, 2.4 * kUs},
                                {8, 2.9 * kUs},
                                {16, 3.5 * kUs},
                                {32, 5.0 * kUs},
                                {64, 7.8 * kUs},
                                {128, 13.4 * kUs}},
                      .instances = 1,
                      .max_rows = 128,
                      .latency_ns = 50'000});
  machines.push_back({.name = "minilm",
                      .costs = {{1, 1.04 * kMs},
                                {2, 2.06 * kMs},
                                {4, 4.14 * kMs},
                                {8, 8.23 * kMs},
                                {16, 17.4 * kMs},
                                {32, 31.0 * kMs}},
                      .instances = 2,
                      .max_rows = 32,
                      .latency_ns = 20'000'000});
  machines.push_back(
      {.name = "detector",
       .costs =
           {{1, 9.2 * kMs}, {2, 20.3 * kMs}, {4, 44.9 * kMs}, {8, 93.1 * kMs}, {16, 193.1 * kMs}},
       .instances = 2,
       .max_rows = 16,
       .latency_ns = 100'000'000});
  for (const uint32_t instances : {1U, 2U}) {
    machines.push_back({.name = instances == 1 ? "gpu" : "two gpus",
                        .costs = {{1, 6 * kMs}, {16, 6 * kMs}, {64, 24 * kMs}},
                        .instances = instances,
                        .max_rows = 64,
                        .latency_ns = 20'000'000});
  }
  return machines;
}

// Another mlp, of four layers, as it was seen on a machine with much else to do. Executions of
// `tailed` now and then take tens of times as long; those of `stolen` lose the processor to others
// for tens of milliseconds, so that most of their time is that; and those of `turns` share it with
// a neighbour, who comes and goes.
std::vector<Machine> WildMachines() {
  const Machine layers{.name = "",
                       .costs = {{1, 3 * kMs}, {32, 8 * kMs}},
                       .max_rows = 32,
                       .latency_ns = 50'000'000,
                       .noise = 0.2};
  Machine tailed = layers;
  tailed.name = "tailed";
  tailed.outliers = 0.03;
  tailed.least_times = 10;
  tailed.most_times = 50;
  Machine stolen = layers;
  stolen.name = "stolen";
  stolen.thefts_per_ns = 1 / (10 * kMs);
  stolen.theft_ns = 20 * kMs;
  Machine turns = layers;
  turns.name = "turns";
  turns.period_ns = 450'000'000;
  turns.neighbour_times = 6;
  return {tailed, stolen, turns};
}

// A model on two threads, whose clients and frontends have the same two processors: what it takes
// differs with the load by as much as with the rows. Made up, so that it answers as many requests
// as `minilm` does on such a server.
Machine ServedMachine() {
  return {.name = "served",
          .costs = {{1, 1.1 * kMs}, {4, 2.5 * kMs}, {8, 4.2 * kMs}, {16, 7.6 * kMs}},
          .max_rows = 16,
          .latency_ns = 100'000'000,
          .arrival_ns = 200'000,
          .cold_times = 2.2};
}

}  // namespace nereid::objective
