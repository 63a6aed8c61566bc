package io.nereid.server.grpc;

import io.nereid.Model;
import io.nereid.proto.ModelConfigRequest;
import io.nereid.proto.ModelMetadataRequest;
import io.nereid.proto.ModelReadyRequest;
import io.nereid.proto.ModelStatisticsRequest;
import io.nereid.proto.RepositoryModelLoadRequest;
import io.nereid.proto.RepositoryModelUnloadRequest;
import io.nereid.proto.TraceSettingRequest;

/** Which model a request is for, as the access log tells it. */
final class LoggedModel {

  private LoggedModel() {}

  /** Tells it of the call that is served on this thread; costs a look where there is no log. */
  static void tell(IncomingRequest request) {
    CallLog.Call call = CallLog.current();
    if (call != null) {
      Model model = request.model();
      call.model(request.modelName(), model == null ? request.namedVersion() : model.version());
    }
  }

  /** As {@link #tell(IncomingRequest)}, of a message that may name a model, or be for none. */
  static void tell(Object request) {
    CallLog.Call call = CallLog.current();
    if (call == null) {
      return;
    }
    switch (request) {
      case ModelReadyRequest ready -> tell(call, ready.getName(), ready.getVersion());
      case ModelMetadataRequest metadata -> tell(call, metadata.getName(), metadata.getVersion());
      case ModelConfigRequest config -> tell(call, config.getName(), config.getVersion());
      case ModelStatisticsRequest statistics ->
          tell(call, statistics.getName(), statistics.getVersion());
      case RepositoryModelLoadRequest load -> tell(call, load.getModelName(), "");
      case RepositoryModelUnloadRequest unload -> tell(call, unload.getModelName(), "");
      case TraceSettingRequest setting -> tell(call, setting.getModelName(), "");
      default -> {} // it is for the server
    }
  }

  private static void tell(CallLog.Call call, String model, String version) {
    call.model(model, ModelVersions.named(version));
  }
}
