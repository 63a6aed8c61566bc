package io.nereid.server.grpc;

import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.nereid.server.shared.AnswerCounts;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Counts each call by its method and code, for metrics. gRPC calls it on event loops, one for each
 * call.
 */
final class CallCounts extends ServerStreamTracer.Factory {

  private static final int CODES = Status.Code.values().length;

  private final AnswerCounts counts;
  private final ConcurrentHashMap<String, Method> methods = new ConcurrentHashMap<>();

  /** Methods that the server does not have are counted as one: clients make up their names. */
  private final Method unknown = new Method("unknown");

  CallCounts(AnswerCounts counts) {
    this.counts = counts;
  }

  @Override
  public ServerStreamTracer newServerStreamTracer(String fullMethodName, Metadata headers) {
    return new Call();
  }

  private final class Method {
    private final String name;
    private final AtomicReferenceArray<AnswerCounts.Count> byCode =
        new AtomicReferenceArray<>(CODES); // null: no call ended with the code

    Method(String name) {
      this.name = name;
    }

    AnswerCounts.Count count(Status.Code code) {
      AnswerCounts.Count count = byCode.get(code.value());
      if (count == null) {
        count = counts.of(new AnswerCounts.Kind(name, "", code.name()));
        byCode.set(code.value(), count);
      }
      return count;
    }
  }

  private final class Call extends ServerStreamTracer {
    private final long startNs = System.nanoTime();
    private Method method = unknown;

    /** Called for methods that the server has. */
    @Override
    public void serverCallStarted(ServerCallInfo<?, ?> call) {
      String name = call.getMethodDescriptor().getFullMethodName();
      Method known = methods.get(name);
      method = known == null ? methods.computeIfAbsent(name, Method::new) : known;
    }

    @Override
    public void streamClosed(Status status) {
      method.count(status.getCode()).add(System.nanoTime() - startNs);
    }
  }
}
