package io.nereid.benchmarks.compare;

import io.nereid.perf.compare.BenchmarkId;
import io.nereid.perf.compare.Fork;
import java.util.regex.Pattern;

/** Says which benchmarks are compared, by their names, and how long their forks run. */
enum Suite {
  CORE(
      "\\.benchmarks\\.(Crossing|Pool|InlineIdentity|QueuedIdentity|Batching|LargeTensor|Ensemble"
          + "|Sequence)Benchmark\\.",
      Fork.Settings.THOROUGH),
  JSON(
      "\\.server\\.http\\.(Json|InferRequest|InferResponse)[A-Za-z]*Benchmark\\.",
      Fork.Settings.THOROUGH),
  GRPC("\\.Grpc[A-Za-z]*Benchmark\\.", Fork.Settings.THOROUGH),
  HTTP("\\.Http[A-Za-z]*Benchmark\\.", Fork.Settings.THOROUGH),
  ONNX("\\.benchmarks\\.(Digits|OnnxBatch)Benchmark\\.", Fork.Settings.THOROUGH),
  ALL("", Fork.Settings.THOROUGH),
  /** A few that together pass through most of the hot path and that noise disturbs least. */
  FAST(
      "\\.InlineIdentityBenchmark\\.pooledInput$"
          + "|\\.InferRequestBenchmark\\.json elements=16$"
          + "|\\.GrpcCodecBenchmark\\.readNereid elements=16$",
      Fork.Settings.QUICK);

  private final Pattern pattern;
  private final Fork.Settings settings;

  Suite(String regex, Fork.Settings settings) {
    this.pattern = Pattern.compile(regex);
    this.settings = settings;
  }

  boolean contains(BenchmarkId id) {
    return pattern.matcher(id.key()).find();
  }

  Fork.Settings settings() {
    return settings;
  }
}
