package io.nereid.recording;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.Nereid;
import io.nereid.model.RequestObserver.Observation;
import io.nereid.model.SentRequest;
import io.nereid.model.SequenceId;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;

/**
 * Records the requests that a runtime answers, until it is closed. A request is copied by the
 * thread that completes it into memory that is bounded, and written by a thread of the recorder's;
 * what does not fit is dropped and counted, and no request waits for that. Any thread may call.
 *
 * <p>It is one of the runtime's {@linkplain Nereid#observeRequests observers} meanwhile.
 */
public final class Recorder implements AutoCloseable {

  private final RecordingOptions options;
  private final MessageRing ring;
  private final RequestCopies copies;
  private final RecordingWriter writer;
  private final Thread thread;
  private Runnable observation = () -> {}; // ends it
  private final long startNs = System.nanoTime();
  private final long salt = ThreadLocalRandom.current().nextLong();

  @GuardedBy("this")
  private boolean closed;

  /**
   * The figures of a recorder since it began.
   *
   * @param recorded requests that were written
   * @param dropped requests that were not recorded although they should be: the memory was full, or
   *     the disk
   * @param writtenBytes bytes that were written to segments
   * @param savedBytes bytes of tensors that were not written again, since they were there already
   */
  public record Statistics(long recorded, long dropped, long writtenBytes, long savedBytes) {}

  private Recorder(RecordingOptions options) throws IOException {
    this.options = options;
    ring = new MessageRing(options.memoryBytes());
    try {
      writer = new RecordingWriter(options, ring, startNs);
    } catch (IOException | RuntimeException e) {
      ring.close();
      throw e;
    }
    copies =
        new RequestCopies(ring, options.redacted(), options.outputs(), startNs, writer.dropped);
    thread = Thread.ofPlatform().daemon().name("nrd-recording").unstarted(writer);
  }

  /**
   * Begins to record.
   *
   * @throws NereidException with {@link StatusCode#FAILED_PRECONDITION} where the directory cannot
   *     be written
   */
  public static Recorder start(Nereid nereid, RecordingOptions options) {
    Recorder recorder;
    try {
      Path directory = options.directory();
      if (!Files.isDirectory(directory)) {
        Files.createDirectories(
            directory,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      }
      recorder = new Recorder(options);
    } catch (IOException e) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          "requests cannot be recorded in " + options.directory() + ": " + e,
          e);
    }
    recorder.thread.start();
    recorder.observation = nereid.observeRequests(recorder::begin);
    return recorder;
  }

  /** The settings that it was started with. */
  public RecordingOptions options() {
    return options;
  }

  /** The figures since it began. */
  public Statistics statistics() {
    return new Statistics(
        writer.recorded.sum(),
        writer.dropped.sum(),
        writer.writtenBytes.sum(),
        writer.savedBytes.sum());
  }

  /**
   * Records no more requests, and returns when those that have ended are written. Closing twice
   * does nothing.
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    observation.run();
    writer.stop(thread);
    copies.closeAfter(thread);
  }

  /** Decides about a request, and has it copied when it ends if it is wanted. */
  private Observation begin(SentRequest request) {
    if (!isWanted(request)) {
      return null;
    }
    long sentNs = System.nanoTime();
    return outcome -> copies.add(request, outcome, sentNs);
  }

  private boolean isWanted(SentRequest request) {
    String model = request.model().name();
    if (!options.models().isEmpty() && !options.models().contains(model)) {
      return false;
    }
    if (options.share() == 1) {
      return true;
    }
    SequenceId sequence = request.sequence();
    RandomGenerator chance =
        sequence.isNone()
            ? ThreadLocalRandom.current()
            : new SplittableRandom(salt ^ (31L * model.hashCode() + sequence.hashCode()));
    return chance.nextDouble() < options.share();
  }
}
