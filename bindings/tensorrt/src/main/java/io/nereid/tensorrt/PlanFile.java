package io.nereid.tensorrt;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * A plan, open until this is closed. Only this class reads a plan's header, as far as NVIDIA's own
 * tools do: a tag, the number of the format, and the version of TensorRT that built it. The places
 * of the GPU and of build settings are not published. No library of NVIDIA's is needed. Any thread
 * may call this.
 */
final class PlanFile implements AutoCloseable {

  static final long HEADER_BYTES = 28;

  private static final int TAG = 0x74727466; // "ftrt"
  private static final int FORMAT = 0;
  private static final long FORMAT_AT = 4;
  private static final long VERSION_AT = 24;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** The most bytes of one call: buffers have no more than 2 GiB. */
  private static final long MOST = 1 << 30;

  private final Path path;
  private final FileChannel channel;
  private final long byteSize;
  private final Arena arena = Arena.ofShared();

  PlanFile(Path path) {
    this.path = path;
    try {
      channel = FileChannel.open(path, StandardOpenOption.READ);
      byteSize = channel.size();
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  private NereidException unreadable(IOException cause) {
    return new NereidException(StatusCode.NOT_FOUND, "cannot read the plan " + path, cause);
  }

  /**
   * Reads the whole plan, into memory until this is closed. A mapping would end the process when
   * the file is cut while TensorRT reads it.
   */
  MemorySegment read() {
    MemorySegment bytes = arena.allocate(byteSize);
    read(bytes, 0);
    return bytes;
  }

  /** The bytes from a place on, as many as a header has at most. */
  private MemorySegment header(long at) {
    MemorySegment header =
        MemorySegment.ofArray(new byte[Math.clamp(byteSize - at, 0, (int) HEADER_BYTES)]);
    read(header, at);
    return header;
  }

  private void read(MemorySegment into, long at) {
    try {
      for (long done = 0; done < into.byteSize(); ) {
        MemorySegment rest = into.asSlice(done, Math.min(into.byteSize() - done, MOST));
        int count = channel.read(rest.asByteBuffer(), at + done);
        if (count < 0) {
          throw new EOFException(
              "expected %s bytes, got %s: the file was cut".formatted(byteSize, at + done));
        }
        done += count;
      }
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  /** True if bytes begin as plans of TensorRT 8.6 and later. */
  static boolean isPlan(MemorySegment plan) {
    return plan.byteSize() >= HEADER_BYTES && plan.get(INT, 0) == TAG;
  }

  /** The version that built a plan; empty: unknown format. */
  static Optional<TensorRtVersion> version(MemorySegment plan) {
    if (!isPlan(plan) || plan.get(INT, FORMAT_AT) != FORMAT) {
      return Optional.empty();
    }
    return Optional.of(
        new TensorRtVersion(
            Byte.toUnsignedInt(plan.get(JAVA_BYTE, VERSION_AT)),
            Byte.toUnsignedInt(plan.get(JAVA_BYTE, VERSION_AT + 1)),
            Byte.toUnsignedInt(plan.get(JAVA_BYTE, VERSION_AT + 2))));
  }

  /**
   * Checks the plan; returns the version that built it; empty: unknown format.
   *
   * @param movable whether the plan may be of a version that is not installed
   * @throws NereidException no supported TensorRT can execute it
   */
  Optional<TensorRtVersion> check(String model, boolean movable) {
    MemorySegment header = header(0);
    if (!isPlan(header)) {
      throw PlanFailure.unusable(
          model,
          path,
          ("expected a plan of TensorRT 8.6 or later, got a file of %s bytes that does"
                  + " not begin like one (%s): build a plan from the model's ONNX file")
              .formatted(byteSize, guess(header)));
    }
    Optional<TensorRtVersion> built = version(header);
    if (!movable && built.isPresent() && TensorRtMajor.of(built.get()).isEmpty()) {
      throw PlanFailure.unusable(
          model,
          path,
          "the plan was built by TensorRT "
              + built.get()
              + ", expected one of TensorRT 10 or 11: rebuild it");
    }
    return built;
  }

  /** Guesses the kind of a file that is no plan, for the message. */
  private String guess(MemorySegment header) {
    long metadata = header.byteSize() < Integer.BYTES ? 0 : header.get(INT, 0);
    long plan = Integer.BYTES + metadata;
    if (metadata > 0 && isPlan(header(plan))) {
      return ("Ultralytics' export puts its own %s bytes before the plan: tail -c +%s"
              + " cuts them off")
          .formatted(plan, plan + 1);
    }
    return "an ONNX file, a file that is cut off?";
  }

  /** Does {@link #check} for a model's plan. */
  static Optional<TensorRtVersion> builtBy(String model, TensorRtOptions options) {
    try (PlanFile file = new PlanFile(options.plan())) {
      return file.check(model, options.versionCompatible());
    }
  }

  /** Describes a model's plan in words, with advice if it cannot run. */
  static String inspect(String model, TensorRtOptions options) {
    Path plan = options.plan();
    Optional<TensorRtVersion> built = builtBy(model, options);
    String name =
        plan.subpath(Math.max(0, plan.getNameCount() - 2), plan.getNameCount()).toString();
    if (built.isEmpty()) {
      return name + " is a plan in a format that is not known here: only TensorRT can read it";
    }
    TensorRtMajor major = TensorRtMajor.of(built.get()).orElse(TensorRtMajor.HERE);
    return ("%s was built by TensorRT %s, and is executed by %s, on a GPU with CUDA %s"
            + " (its header does not tell for which GPUs); where another is installed:"
            + " %s, or trtexec --onnx=model.onnx --saveEngine=%s")
        .formatted(
            name,
            built.get(),
            options.versionCompatible() ? "that or a later version" : "that version alone",
            major.cuda(),
            PlanFailure.buildCommand(major, plan),
            plan);
  }

  @Override
  public void close() {
    arena.close();
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
