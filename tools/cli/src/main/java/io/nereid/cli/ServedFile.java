package io.nereid.cli;

import io.nereid.model.ModelFile;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Serves the file of {@code nereid perf model.onnx} in this process at free ports, since the load
 * generator only measures servers. Other command lines are unchanged.
 */
record ServedFile(String[] arguments, NereidServer server) implements AutoCloseable {

  /** Begins to serve if the arguments are of {@code perf} and name a file and no server. */
  static ServedFile of(String[] arguments) {
    int file = arguments.length > 0 && arguments[0].equals("perf") ? indexOfFile(arguments) : -1;
    if (file < 0) {
      return new ServedFile(arguments, null);
    }
    RepositoryArguments.muteLoadLog(); // perf will report a missing model
    Path path = Path.of(arguments[file]);
    NereidServer server =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withGrpc(GrpcOptions.DEFAULT)
                .withAllowClientShm(true)
                .withRepository(RepositoryOptions.builder().repository(path).build()));
    List<String> served = new ArrayList<>(List.of(arguments));
    served.set(file, ModelFile.nameAt(path));
    boolean grpc = served.contains("grpc");
    served.add("--url");
    served.add("localhost:" + (grpc ? server.grpcPort().orElseThrow() : server.httpPort()));
    return new ServedFile(served.toArray(String[]::new), server);
  }

  private static int indexOfFile(String[] arguments) {
    int file = -1;
    for (int i = 1; i < arguments.length; i++) {
      if (arguments[i].startsWith("-u") || arguments[i].startsWith("--url")) {
        return -1; // the named server has a model of this name
      }
      if (ModelFile.isNamed(arguments[i]) && ModelFile.isAt(Path.of(arguments[i]))) {
        file = i;
      }
    }
    return file;
  }

  @Override
  public void close() {
    if (server != null) {
      server.close();
    }
  }
}
