package io.nereid.client;

import io.nereid.proto.InferStatistics;
import io.nereid.proto.ModelMetadataResponse;
import io.nereid.proto.ModelStatisticsResponse;
import io.nereid.proto.RepositoryIndexResponse;
import io.nereid.proto.ServerMetadataResponse;
import io.nereid.proto.StatisticDuration;
import io.nereid.proto.SystemSharedMemoryStatusResponse;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** What servers tell about themselves over gRPC. */
final class GrpcMetadata {

  private GrpcMetadata() {}

  static ServerMetadata server(ServerMetadataResponse reply) {
    return new ServerMetadata(
        reply.getName(), reply.getVersion(), List.copyOf(reply.getExtensionsList()));
  }

  static ModelMetadata model(ModelMetadataResponse reply) {
    return new ModelMetadata(
        reply.getName(),
        List.copyOf(reply.getVersionsList()),
        reply.getPlatform(),
        reply.getInputsList().stream().map(GrpcMetadata::tensor).toList(),
        reply.getOutputsList().stream().map(GrpcMetadata::tensor).toList());
  }

  private static TensorMetadata tensor(ModelMetadataResponse.TensorMetadata tensor) {
    return new TensorMetadata(
        tensor.getName(), tensor.getDatatype(), List.copyOf(tensor.getShapeList()));
  }

  static List<ModelIndexEntry> index(RepositoryIndexResponse reply) {
    return reply.getModelsList().stream()
        .map(model ->
            new ModelIndexEntry(
                model.getName(), model.getVersion(), model.getState(), model.getReason()))
        .toList();
  }

  static List<SharedMemoryStatus> sharedMemory(SystemSharedMemoryStatusResponse reply) {
    return reply.getRegionsMap().values().stream()
        .map(region ->
            new SharedMemoryStatus(
                region.getName(), region.getKey(), region.getOffset(), region.getByteSize()))
        .toList();
  }

  static List<ModelStatistics> statistics(ModelStatisticsResponse reply) {
    return reply.getModelStatsList().stream().map(GrpcMetadata::statistics).toList();
  }

  private static ModelStatistics statistics(io.nereid.proto.ModelStatistics model) {
    InferStatistics sums = model.getInferenceStats();
    return new ModelStatistics(
        model.getName(),
        model.getVersion(),
        model.getLastInference() == 0
            ? Optional.empty()
            : Optional.of(Instant.ofEpochMilli(model.getLastInference())),
        model.getInferenceCount(),
        model.getExecutionCount(),
        duration(sums.getSuccess()),
        duration(sums.getFail()),
        duration(sums.getQueue()),
        duration(sums.getComputeInput()),
        duration(sums.getComputeInfer()),
        duration(sums.getComputeOutput()),
        duration(sums.getCacheHit()),
        duration(sums.getCacheMiss()),
        model.getBatchStatsList().stream()
            .map(batch ->
                new BatchStatistics(
                    batch.getBatchSize(),
                    duration(batch.getComputeInput()),
                    duration(batch.getComputeInfer()),
                    duration(batch.getComputeOutput())))
            .toList());
  }

  private static DurationStatistic duration(StatisticDuration duration) {
    return new DurationStatistic(duration.getCount(), duration.getNs());
  }
}
