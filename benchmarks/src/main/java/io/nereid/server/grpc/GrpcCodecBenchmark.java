package io.nereid.server.grpc;

import com.google.protobuf.ByteString;
import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.benchmarks.fixtures.BenchmarkModels;
import io.nereid.benchmarks.fixtures.BenchmarkRequests;
import io.nereid.benchmarks.fixtures.ServerBenchmark;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferResponse;
import io.nereid.server.shared.ServerState;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Messages of ModelInfer with a row of FP32, by the server's own codec and by protobuf-java's
 * generated classes as a server on them would use them. Reading ends with a request that could be
 * sent; writing begins with running the identity model, in both cases alike, since a reply owns its
 * response.
 */
public class GrpcCodecBenchmark extends ServerBenchmark {

  @Param({"16", "1024", "150528"})
  public int elements;

  private Nereid nereid;
  private ServerState state;
  private Model model;
  private ByteBuffer message;
  private Tensor input;
  private final CountingStream sink = new CountingStream();

  /** Made by JMH. */
  public GrpcCodecBenchmark() {}

  @Setup
  public void open() {
    nereid = Nereid.create();
    state = ServerState.builder(nereid).build();
    model = nereid.load(BenchmarkModels.anyIdentity());
    byte[] bytes = BenchmarkRequests.grpc(elements);
    message = ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    input = BenchmarkRequests.tensor(DataType.FP32, elements);
  }

  @TearDown
  public void close() {
    nereid.close();
  }

  @Benchmark
  public Object readNereid() {
    try (IncomingRequest request = IncomingRequest.read(state, new LentMessage(message))) {
      if (request.failure() != null) {
        throw new IllegalStateException(request.failure().toString());
      }
      return request.request();
    }
  }

  @Benchmark
  public Object readProtobuf() throws IOException {
    ModelInferRequest read = ModelInferRequest.parseFrom(new LentMessage(message));
    ByteString contents = read.getRawInputContents(0);
    ModelInferRequest.InferInputTensor description = read.getInputs(0);
    try (InferRequest request = nereid.model(read.getModelName()).newRequest()) {
      request
          .allocateInput(description.getName(), description.getShape(0), description.getShape(1))
          .segment()
          .copyFrom(MemorySegment.ofBuffer(contents.asReadOnlyByteBuffer()));
      return request;
    }
  }

  private InferResponse infer() {
    try (InferRequest request = model.newRequest().input(BenchmarkModels.INPUT, input)) {
      return request.infer();
    }
  }

  @Benchmark
  public long writeNereid() throws IOException {
    try (OutputForms forms = new OutputForms(state.sharedMemory());
        OutgoingReply reply = OutgoingReply.unary(infer(), forms, null)) {
      reply.drainTo(sink);
    }
    return sink.count();
  }

  @Benchmark
  public long writeProtobuf() throws IOException {
    try (InferResponse response = infer()) {
      Tensor output = response.output(BenchmarkModels.OUTPUT);
      ModelInferResponse.newBuilder()
          .setModelName(response.modelName())
          .setModelVersion(Long.toString(response.modelVersion()))
          .addOutputs(
              ModelInferResponse.InferOutputTensor.newBuilder()
                  .setName(BenchmarkModels.OUTPUT)
                  .setDatatype(output.dataType().name())
                  .addShape(output.dim(0))
                  .addShape(output.dim(1)))
          .addRawOutputContents(ByteString.copyFrom(output.segment().asByteBuffer()))
          .build()
          .writeTo(sink);
    }
    return sink.count();
  }

  /** A stream whose messages nobody reads. It copies them, as the transport does. */
  private static final class CountingStream extends OutputStream {

    private final byte[] buffer = new byte[16 << 10];
    private long count;

    long count() {
      return count;
    }

    @Override
    public void write(int value) {
      buffer[(int) (count % buffer.length)] = (byte) value;
      count++;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
      for (int done = 0; done < length; ) {
        int piece = Math.min(buffer.length, length - done);
        System.arraycopy(bytes, offset + done, buffer, 0, piece);
        done += piece;
      }
      count += length;
    }
  }

  /** A message as the transport lends it: in pieces of native memory. */
  private static final class LentMessage extends InputStream implements KnownLength, HasByteBuffer {

    /** The size of the transport's buffers. */
    private static final int PIECE_BYTES = 16 << 10;

    private final ByteBuffer left;

    /** Reads the buffer, whose position stays where it is. */
    LentMessage(ByteBuffer message) {
      left = message.duplicate();
    }

    @Override
    public boolean byteBufferSupported() {
      return true;
    }

    @Override
    public ByteBuffer getByteBuffer() {
      return left.hasRemaining()
          ? left.slice(left.position(), Math.min(PIECE_BYTES, left.remaining())).asReadOnlyBuffer()
          : null;
    }

    @Override
    public int available() {
      return left.remaining();
    }

    @Override
    public long skip(long count) {
      int skipped = (int) Math.min(count, left.remaining());
      left.position(left.position() + skipped);
      return skipped;
    }

    @Override
    public int read() {
      return left.hasRemaining() ? left.get() & 0xff : -1;
    }

    @Override
    public int read(byte[] into, int offset, int count) {
      if (!left.hasRemaining()) {
        return -1;
      }
      int taken = Math.min(count, left.remaining());
      left.get(into, offset, taken);
      return taken;
    }
  }
}
