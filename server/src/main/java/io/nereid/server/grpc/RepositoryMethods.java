package io.nereid.server.grpc;

import io.nereid.Repository;
import io.nereid.UnreadableModelException;
import io.nereid.model.ModelIndexEntry;
import io.nereid.proto.ModelRepositoryParameter;
import io.nereid.proto.ModelRepositoryParameter.ParameterChoiceCase;
import io.nereid.proto.RepositoryIndexRequest;
import io.nereid.proto.RepositoryIndexResponse;
import io.nereid.proto.RepositoryIndexResponse.ModelIndex;
import io.nereid.proto.RepositoryModelLoadRequest;
import io.nereid.proto.RepositoryModelLoadResponse;
import io.nereid.proto.RepositoryModelUnloadRequest;
import io.nereid.proto.RepositoryModelUnloadResponse;
import io.nereid.server.shared.ClientAddress;
import io.nereid.server.shared.LoadParameters;
import io.nereid.server.shared.RepositoryLog;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.net.SocketAddress;
import java.util.Locale;

/** Answers the model repository extension: the index, loading and unloading. */
final class RepositoryMethods {

  private final Repository repository;

  RepositoryMethods(Repository repository) {
    this.repository = repository;
  }

  RepositoryIndexResponse index(RepositoryIndexRequest request) {
    checkRepository(request.getRepositoryName());
    RepositoryIndexResponse.Builder index = RepositoryIndexResponse.newBuilder();
    for (ModelIndexEntry entry : repository.index()) {
      if (!request.getReady() || entry.state() == ModelIndexEntry.State.READY) {
        index.addModels(entry(entry));
      }
    }
    return index.build();
  }

  private static ModelIndex entry(ModelIndexEntry entry) {
    ModelIndex.Builder index =
        ModelIndex.newBuilder().setName(entry.name()).setReason(entry.reason());
    entry.version().ifPresent(version -> index.setVersion(Long.toString(version)));
    if (entry.state() != ModelIndexEntry.State.UNKNOWN) {
      index.setState(entry.state().name());
    }
    return index.build();
  }

  /** Throws if no client may load models, whose files then need not be read. */
  void checkAllowed() {
    repository.checkExplicit();
  }

  RepositoryModelLoadResponse load(RepositoryModelLoadRequest request, SocketAddress client) {
    checkRepository(request.getRepositoryName());
    LoadParameters parameters = new LoadParameters();
    request
        .getParametersMap()
        .forEach((name, value) -> {
          if (LoadParameters.isFile(name)) {
            checkType(name, value, ParameterChoiceCase.BYTES_PARAM);
            parameters.file(name, value.getBytesParam().toByteArray());
          } else {
            checkType(name, value, ParameterChoiceCase.STRING_PARAM);
            parameters.config(value.getStringParam());
          }
        });
    try {
      parameters.load(repository, request.getModelName());
    } catch (UnreadableModelException e) {
      // Triton's clients expect INTERNAL, where HTTP has a 400.
      throw e.code() == StatusCode.INVALID_ARGUMENT
          ? new NereidException(StatusCode.INTERNAL, e.getMessage())
          : e;
    }
    RepositoryLog.loaded(request.getModelName(), ClientAddress.text(client));
    return RepositoryModelLoadResponse.getDefaultInstance();
  }

  RepositoryModelUnloadResponse unload(RepositoryModelUnloadRequest request, SocketAddress client) {
    checkRepository(request.getRepositoryName());
    boolean dependents = false;
    for (var parameter : request.getParametersMap().entrySet()) {
      LoadParameters.checkUnload(parameter.getKey());
      checkType(parameter.getKey(), parameter.getValue(), ParameterChoiceCase.BOOL_PARAM);
      dependents = parameter.getValue().getBoolParam();
    }
    repository.unload(request.getModelName(), dependents);
    RepositoryLog.unloaded(request.getModelName(), ClientAddress.text(client));
    return RepositoryModelUnloadResponse.getDefaultInstance();
  }

  private static void checkType(
      String name, ModelRepositoryParameter value, ParameterChoiceCase expected) {
    if (value.getParameterChoiceCase() != expected) {
      throw GrpcStatus.invalidArgument(
          "invalid value type for '"
              + name
              + "' parameter, expected "
              + expected.name().toLowerCase(Locale.ROOT)
              + ", got "
              + value.getParameterChoiceCase().name().toLowerCase(Locale.ROOT));
    }
  }

  private static void checkRepository(String name) {
    if (!name.isEmpty()) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED, "'repository_name' specification is not supported");
    }
  }
}
