package io.nereid.client;

import io.nereid.client.Call.Attempt;
import io.nereid.client.Call.Limit;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The calls over one protocol, each for a single attempt. A version that is empty means that the
 * server chooses, a model that is empty means all of them.
 */
sealed interface Transport extends AutoCloseable permits HttpTransport, GrpcTransport {

  Attempt<Boolean> serverLive(Limit limit);

  Attempt<Boolean> serverReady(Limit limit);

  Attempt<Boolean> modelReady(String model, String version, Limit limit);

  Attempt<ServerMetadata> serverMetadata(Limit limit);

  Attempt<ModelMetadata> modelMetadata(String model, String version, Limit limit);

  Attempt<String> modelConfig(String model, String version, Limit limit);

  Attempt<List<ModelUsage>> statistics(String model, String version, Limit limit);

  Attempt<List<IndexedModel>> repositoryIndex(boolean readyOnly, Limit limit);

  /** Loads a model; empty arguments: the configuration and files of the repository. */
  Attempt<Void> loadModel(
      String model, Optional<String> config, Map<String, byte[]> files, Limit limit);

  Attempt<Void> unloadModel(String model, boolean dependents, Limit limit);

  Attempt<Void> registerSharedMemory(SharedMemory.Registration region, Limit limit);

  /** Unregisters a region; an empty name: all regions. */
  Attempt<Void> unregisterSharedMemory(String name, Limit limit);

  Attempt<List<SharedMemory.Registration>> sharedMemoryStatus(Limit limit);

  /** Makes the changes, if any, and returns the settings; an empty model: those of all. */
  Call.Starter<Map<String, List<String>>> traceSettings(
      String model, Map<String, List<String>> changes);

  /** Makes the changes, if any, and returns the settings. */
  Call.Starter<Map<String, Object>> logSettings(Map<String, Object> changes);

  /** Asks for one response to inputs in JSON. */
  Call.Starter<Map<String, Object>> generate(
      String model, String version, Map<String, Object> request);

  /** Asks for any number of responses to inputs in JSON. */
  GenerateStream generateStream(String model, String version, Map<String, Object> request);

  /**
   * Encodes a request, now and once for all attempts: its inputs may be memory that only this
   * thread may use.
   */
  Call.Starter<InferResponse> infer(InferRequest request);

  /** Begins a stream of requests and responses. */
  InferStream openStream();

  @Override
  void close();
}
