package io.nereid.server.grpc;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.nereid.InferResponse;
import io.nereid.Nereid;
import io.nereid.ResponseListener;
import io.nereid.model.Backend;
import io.nereid.model.ModelSpec;
import io.nereid.server.shared.ServerState;
import io.nereid.server.wire.HttpPort;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Serves inferences in each of the ways in which they could be executed, one method for each. What
 * {@link ExecutionLoad} compares.
 */
final class ExecutionServer {

  static final String SERVICE = "execution";

  /** Where a request is given to its model. */
  enum Way {
    /** On the connection's loop, which executes it as well. */
    LOOP,
    /** On a virtual thread, which executes it as well. */
    VIRTUAL,
    /** On one of as many threads as processors, which executes it as well. */
    POOL,
    /** On the loop, and executed by the model's own threads. */
    QUEUE
  }

  /** How long the models take, by their names; 0 is the core's identity. */
  static final int[] EXECUTION_US = {0, 20, 50, 100, 200, 1000, 5000};

  private final Nereid nereid = Nereid.create();
  private final ServerState state = ServerState.builder(nereid).build();
  private final Executor pool =
      Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());

  private ExecutionServer() {}

  /** Prints the port it listens on, and serves until the process ends. */
  public static void main(String[] args) throws Exception {
    ExecutionServer execution = new ExecutionServer();
    for (int us : EXECUTION_US) {
      execution.nereid.load(model(us));
    }
    HttpPort port =
        GrpcServer.listen(
            execution.state,
            GrpcOptions.DEFAULT,
            new MethodTable(List.of(execution.service()), List::of),
            new AtomicInteger());
    System.out.println("Serving gRPC at 127.0.0.1:" + port.number());
    System.out.println("Ready");
    Thread.currentThread().join();
  }

  private ServerServiceDefinition service() {
    ServerServiceDefinition.Builder service = ServerServiceDefinition.builder(SERVICE);
    for (Way way : Way.values()) {
      Executor executor =
          switch (way) {
            case LOOP, QUEUE -> Runnable::run;
            case VIRTUAL -> Thread::startVirtualThread;
            case POOL -> pool;
          };
      service.addMethod(
          method(way),
          (call, headers) -> {
            call.request(2);
            return new Inference(call, executor, way != Way.QUEUE);
          });
    }
    return service.build();
  }

  private MethodDescriptor<IncomingRequest, OutgoingReply> method(Way way) {
    return MethodDescriptor.<IncomingRequest, OutgoingReply>newBuilder()
        .setType(MethodType.UNARY)
        .setFullMethodName(SERVICE + "/" + way)
        .setRequestMarshaller(new InferenceCalls.Requests(state))
        .setResponseMarshaller(new InferenceCalls.Replies())
        .build();
  }

  private static ModelSpec model(int us) {
    ModelSpec.Builder model =
        ModelSpec.builder("us" + us)
            .instanceCount(Runtime.getRuntime().availableProcessors())
            .input("IN", DataType.FP32, -1, -1)
            .output("OUT", DataType.FP32, -1, -1);
    return (us == 0 ? model.backend("identity") : model.backend(busy(us))).build();
  }

  /** Computes for so long. */
  private static Backend busy(int us) {
    return context ->
        batch -> {
          long endNs = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(us);
          while (System.nanoTime() - endNs < 0) {
            Thread.onSpinWait();
          }
          batch.output("OUT", batch.input("IN"));
        };
  }

  /** A call that succeeds, or ends the measurement. */
  private static final class Inference extends ServerCall.Listener<IncomingRequest>
      implements ResponseListener {
    private final ServerCall<IncomingRequest, OutgoingReply> call;
    private final Executor executor;
    private final boolean inline;
    private IncomingRequest incoming;

    Inference(ServerCall<IncomingRequest, OutgoingReply> call, Executor executor, boolean inline) {
      this.call = call;
      this.executor = executor;
      this.inline = inline;
    }

    @Override
    public void onMessage(IncomingRequest message) {
      incoming = message;
    }

    @Override
    public void onHalfClose() {
      executor.execute(() -> incoming.request().submit(this, inline));
    }

    @Override
    public void onResponse(InferResponse response) {
      GrpcCall<?, ?> transport = GrpcCall.of(call);
      if (transport.isOnLoop()) {
        answer(response);
      } else {
        transport.loop().execute(() -> answer(response));
      }
    }

    private void answer(InferResponse response) {
      incoming.closeInputs();
      OutgoingReply reply = OutgoingReply.unary(response, incoming.forms());
      incoming.close();
      try (reply) {
        call.sendHeaders(new Metadata());
        call.sendMessage(reply);
      }
      call.close(Status.OK, new Metadata());
    }

    @Override
    public void onFailure(NereidException failure) {
      call.close(GrpcStatus.of(failure), new Metadata());
    }
  }
}
