package io.nereid.benchmarks.compare;

import java.util.regex.Pattern;

/** Which benchmarks are compared, by their names, and how long their forks run. */
enum Suite {
  CORE(
      "\\.benchmarks\\.(Crossing|Pool|InlineIdentity|QueuedIdentity|Batching|LargeTensor|Ensemble)"
          + "Benchmark\\.",
      ForkSettings.THOROUGH),
  JSON("\\.server\\.http\\.(Json|InferRequest|InferResponse)[A-Za-z]*Benchmark\\.", ForkSettings.THOROUGH),
  GRPC("\\.Grpc[A-Za-z]*Benchmark\\.", ForkSettings.THOROUGH),
  HTTP("\\.Http[A-Za-z]*Benchmark\\.", ForkSettings.THOROUGH),
  ONNX("\\.benchmarks\\.(Digits|OnnxBatch)Benchmark\\.", ForkSettings.THOROUGH),
  ALL("", ForkSettings.THOROUGH),
  /** A few that together pass through most of the hot path and that noise disturbs least. */
  FAST(
      "\\.InlineIdentityBenchmark\\.pooledInput$"
          + "|\\.InferRequestBenchmark\\.json elements=16$"
          + "|\\.GrpcCodecBenchmark\\.readNereid elements=16$",
      ForkSettings.QUICK);

  private final Pattern pattern;
  private final ForkSettings settings;

  Suite(String regex, ForkSettings settings) {
    this.pattern = Pattern.compile(regex);
    this.settings = settings;
  }

  boolean contains(BenchmarkId id) {
    return pattern.matcher(id.key()).find();
  }

  ForkSettings settings() {
    return settings;
  }
}
