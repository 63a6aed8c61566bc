package io.nereid.server.grpc;

import com.google.protobuf.InvalidProtocolBufferException;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.proto.InferBatchStatistics;
import io.nereid.proto.InferStatistics;
import io.nereid.proto.MemoryUsage;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelConfigRequest;
import io.nereid.proto.ModelConfigResponse;
import io.nereid.proto.ModelMetadataRequest;
import io.nereid.proto.ModelMetadataResponse;
import io.nereid.proto.ModelMetadataResponse.TensorMetadata;
import io.nereid.proto.ModelStatistics;
import io.nereid.proto.ModelStatisticsRequest;
import io.nereid.proto.ModelStatisticsResponse;
import io.nereid.proto.StatisticDuration;
import io.nereid.server.shared.ModelFacts;
import io.nereid.statistics.BatchStatistics;
import io.nereid.statistics.DurationStatistic;
import java.time.Instant;
import java.util.List;

/** Answers the methods for metadata, configurations and statistics of models. */
final class ModelMethods {

  private final Nereid nereid;

  ModelMethods(Nereid nereid) {
    this.nereid = nereid;
  }

  ModelMetadataResponse metadata(ModelMetadataRequest request) {
    Model model = ModelVersions.model(nereid, request.getName(), request.getVersion());
    ModelSpec spec = model.spec();
    long asked = ModelVersions.parse(request.getVersion());
    ModelMetadataResponse.Builder metadata =
        ModelMetadataResponse.newBuilder()
            .setName(model.name())
            .addAllVersions(ModelFacts.versions(nereid, model, asked))
            .setPlatform(ModelFacts.platform(model));
    spec.inputs().forEach(input -> metadata.addInputs(tensor(spec, input)));
    spec.outputs().forEach(output -> metadata.addOutputs(tensor(spec, output)));
    return metadata.build();
  }

  private static TensorMetadata tensor(ModelSpec model, TensorSpec tensor) {
    return TensorMetadata.newBuilder()
        .setName(tensor.name())
        .setDatatype(tensor.dataType().name())
        .addAllShape(ModelFacts.shape(model, tensor))
        .build();
  }

  ModelConfigResponse config(ModelConfigRequest request) {
    Model model = ModelVersions.model(nereid, request.getName(), request.getVersion());
    try {
      ModelConfig config = ModelConfig.parseFrom(model.configuration().toProtobuf());
      return ModelConfigResponse.newBuilder().setConfig(config).build();
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("the runtime wrote no configuration", e);
    }
  }

  ModelStatisticsResponse statistics(ModelStatisticsRequest request) {
    long version = ModelVersions.parse(request.getVersion());
    List<Model> models =
        request.getName().isEmpty()
            ? ModelFacts.withStatistics(nereid)
            : ModelFacts.withStatistics(nereid, request.getName(), version);
    ModelStatisticsResponse.Builder all = ModelStatisticsResponse.newBuilder();
    models.forEach(model -> all.addModelStats(statistics(model)));
    return all.build();
  }

  private static ModelStatistics statistics(Model model) {
    io.nereid.statistics.ModelStatistics statistics = model.statistics();
    ModelStatistics.Builder all =
        ModelStatistics.newBuilder()
            .setName(model.name())
            .setVersion(Long.toString(model.version()))
            .setLastInference(statistics.lastInference().map(Instant::toEpochMilli).orElse(0L))
            .setInferenceCount(statistics.inferenceCount())
            .setExecutionCount(statistics.executionCount())
            .setInferenceStats(
                InferStatistics.newBuilder()
                    .setSuccess(duration(statistics.success()))
                    .setFail(duration(statistics.fail()))
                    .setQueue(duration(statistics.queue()))
                    .setComputeInput(duration(statistics.computeInput()))
                    .setComputeInfer(duration(statistics.computeInfer()))
                    .setComputeOutput(duration(statistics.computeOutput()))
                    .setCacheHit(duration(statistics.cacheHit()))
                    .setCacheMiss(duration(statistics.cacheMiss())));
    for (BatchStatistics batch : statistics.batches()) {
      all.addBatchStats(
          InferBatchStatistics.newBuilder()
              .setBatchSize(batch.batchSize())
              .setComputeInput(duration(batch.computeInput()))
              .setComputeInfer(duration(batch.computeInfer()))
              .setComputeOutput(duration(batch.computeOutput())));
    }
    io.nereid.statistics.MemoryUsage memory = model.memoryUsage();
    all.addMemoryUsage(
        MemoryUsage.newBuilder()
            .setType("CPU")
            .setByteSize(memory.weights() + memory.working() + memory.pool()));
    return all.build();
  }

  private static StatisticDuration duration(DurationStatistic statistic) {
    return StatisticDuration.newBuilder()
        .setCount(statistic.count())
        .setNs(statistic.totalNs())
        .build();
  }
}
