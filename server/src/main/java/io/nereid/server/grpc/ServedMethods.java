package io.nereid.server.grpc;

import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The methods that calls find. The port is open before the models are loaded: what it costs to open
 * it is then paid while they load, and a port that is taken is found out at once.
 */
final class ServedMethods extends HandlerRegistry {

  private static final Status LOADING =
      Status.UNAVAILABLE.withDescription("GRPC server is loading its models");

  /** By full name; null: not served yet. */
  private volatile Map<String, ServerMethodDefinition<?, ?>> methods;

  private volatile List<ServerServiceDefinition> services = List.of();

  /** From now on calls are served. */
  void serve(List<ServerServiceDefinition> served) {
    Map<String, ServerMethodDefinition<?, ?>> all = new HashMap<>();
    for (ServerServiceDefinition service : served) {
      service
          .getMethods()
          .forEach(method -> all.put(method.getMethodDescriptor().getFullMethodName(), method));
    }
    services = List.copyOf(served);
    methods = Map.copyOf(all);
  }

  @Override
  public List<ServerServiceDefinition> getServices() {
    return services;
  }

  @Override
  public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
    Map<String, ServerMethodDefinition<?, ?>> all = methods;
    return all == null ? refused(name) : all.get(name);
  }

  /** A method that refuses its calls, whatever they carry. */
  private static ServerMethodDefinition<InputStream, InputStream> refused(String name) {
    MethodDescriptor<InputStream, InputStream> method =
        MethodDescriptor.<InputStream, InputStream>newBuilder()
            .setType(MethodType.UNKNOWN)
            .setFullMethodName(name)
            .setRequestMarshaller(new Nothing())
            .setResponseMarshaller(new Nothing())
            .build();
    return ServerMethodDefinition.create(
        method,
        (call, headers) -> {
          call.close(LOADING, new Metadata());
          return new ServerCall.Listener<>() {};
        });
  }

  /** For messages that nobody reads. */
  private static final class Nothing implements MethodDescriptor.Marshaller<InputStream> {
    @Override
    public InputStream stream(InputStream value) {
      return value;
    }

    @Override
    public InputStream parse(InputStream stream) {
      return new ByteArrayInputStream(new byte[0]);
    }
  }
}
