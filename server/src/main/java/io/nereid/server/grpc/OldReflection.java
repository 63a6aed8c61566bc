package io.nereid.server.grpc;

import io.grpc.ServerServiceDefinition;
import io.grpc.protobuf.services.ProtoReflectionService;

/** Server reflection under the name it had before it was finished, which many tools still use. */
final class OldReflection {

  private OldReflection() {}

  @SuppressWarnings("deprecation") // so it is marked, in favour of the new name
  static ServerServiceDefinition service() {
    return ProtoReflectionService.newInstance().bindService();
  }
}
