package io.nereid.perf;

import io.nereid.client.InferenceClient;
import io.nereid.client.InferenceException;
import io.nereid.client.ServerMetadata;
import java.util.List;
import java.util.Optional;

/**
 * Makes the calls to the server besides the load, by Nereid's client: they block, and are not
 * measured. For one thread.
 */
final class ServerControl implements AutoCloseable {

  private final Target target;
  private final ServerConnection connection;
  private final InferenceClient client;

  ServerControl(Target target) {
    this.target = target;
    connection = new ServerConnection(target);
    client = connection.client();
  }

  /** The server's metadata; throws with advice if there is no server of the protocol. */
  ServerMetadata server() {
    return connection.ask(
        "expected a server of the Open Inference Protocol at " + target,
        InferenceClient::serverMetadata);
  }

  boolean modelReady() {
    try {
      return client.modelReady(target.model(), target.version());
    } catch (InferenceException e) {
      return false; // asking for the model itself gives the reason
    }
  }

  /** The model's description; throws if the model is unknown. */
  ModelInfo model() {
    return connection.model(target.model(), target.version());
  }

  /** The statistics of all measured versions together; empty if the server has none. */
  Optional<ServerStatistics> statistics() {
    try {
      return Optional.of(
          ServerStatistics.sum(
              target.version().isEmpty()
                  ? client.statistics(target.model())
                  : List.of(client.statistics(target.model(), target.version()))));
    } catch (InferenceException e) {
      if (ServerConnection.isAbsent(e)) {
        throw connection.failure("expected statistics of the server at " + target, e);
      }
      return Optional.empty();
    }
  }

  void registerMemory(String name, String key, long byteSize) {
    try {
      client.registerSharedMemory(name, key, 0, byteSize);
    } catch (InferenceException e) {
      throw connection.failure(
          "the server does not take shared memory (--allow-client-shm of Nereid)", e);
    }
  }

  void unregisterMemory(String name) {
    client.unregisterSharedMemory(name);
  }

  @Override
  public void close() {
    connection.close();
  }
}
