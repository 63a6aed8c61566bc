package io.nereid.server.grpc;

import io.grpc.Attributes;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.grpc.protobuf.ProtoUtils;
import io.nereid.benchmarks.fixtures.ServerBenchmark;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferResponse;
import io.nereid.server.shared.AnswerCounts;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OutputTimeUnit;

/** The whole cost of counting a call over gRPC by its method and code, the clock included. */
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class GrpcCountingBenchmark extends ServerBenchmark {

  private final CallCounts counts = new CallCounts(new AnswerCounts());
  private final Metadata headers = new Metadata();
  private final Call call = new Call();

  /** Made by JMH. */
  public GrpcCountingBenchmark() {}

  @Benchmark
  public void call() {
    ServerStreamTracer tracer =
        counts.newServerStreamTracer(call.method.getFullMethodName(), headers);
    tracer.serverCallStarted(call);
    tracer.streamClosed(Status.OK);
  }

  /** A call that has begun. */
  private static final class Call
      extends ServerStreamTracer.ServerCallInfo<ModelInferRequest, ModelInferResponse> {

    private final MethodDescriptor<ModelInferRequest, ModelInferResponse> method =
        MethodDescriptor.<ModelInferRequest, ModelInferResponse>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName(InferenceService.NAME + "/ModelInfer")
            .setRequestMarshaller(ProtoUtils.marshaller(ModelInferRequest.getDefaultInstance()))
            .setResponseMarshaller(ProtoUtils.marshaller(ModelInferResponse.getDefaultInstance()))
            .build();

    @Override
    public MethodDescriptor<ModelInferRequest, ModelInferResponse> getMethodDescriptor() {
      return method;
    }

    @Override
    public Attributes getAttributes() {
      return Attributes.EMPTY;
    }

    @Override
    public String getAuthority() {
      return null;
    }
  }
}
