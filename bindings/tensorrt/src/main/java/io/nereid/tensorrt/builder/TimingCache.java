package io.nereid.tensorrt.builder;

import io.nereid.tensorrt.NativeObjects;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.tensorrt.nvinfer.IBuilderConfig;
import org.bytedeco.tensorrt.nvinfer.IHostMemory;
import org.bytedeco.tensorrt.nvinfer.ITimingCache;

/**
 * A file with measurements of earlier builds on the same GPU: the next build of a network with
 * equal layers does not repeat them. Not for several builds at once: the last one wins.
 */
final class TimingCache implements AutoCloseable {

  private final Optional<Path> file;
  private final ITimingCache cache;

  private TimingCache(Optional<Path> file, ITimingCache cache) {
    this.file = file;
    this.cache = cache;
  }

  /** Gives the configuration a cache with the file's content; none without a file. */
  static TimingCache open(IBuilderConfig config, Optional<Path> file) throws IOException {
    if (file.isEmpty()) {
      return new TimingCache(file, null);
    }
    byte[] bytes = Files.exists(file.get()) ? Files.readAllBytes(file.get()) : new byte[0];
    ITimingCache cache = read(config, bytes);
    if (cache == null && bytes.length > 0) {
      BuildLog.LOGGER.log(
          System.Logger.Level.WARNING,
          "the timing cache %s is of another GPU or another TensorRT: it is begun anew"
              .formatted(file.get()));
      cache = read(config, new byte[0]);
    }
    if (cache == null) {
      throw new NereidException(StatusCode.INTERNAL, "TensorRT could not make a timing cache");
    }
    return new TimingCache(file, cache);
  }

  /** Reads a cache; null: TensorRT does not accept it. */
  private static ITimingCache read(IBuilderConfig config, byte[] bytes) {
    BytePointer blob = bytes.length == 0 ? null : new BytePointer(bytes);
    ITimingCache cache = config.createTimingCache(blob, bytes.length);
    if (cache != null && !cache.isNull() && config.setTimingCache(cache, false)) {
      return cache;
    }
    NativeObjects.delete(cache);
    return null;
  }

  void save() throws IOException {
    if (cache == null) {
      return;
    }
    IHostMemory memory = cache.serialize();
    if (memory == null || memory.isNull()) {
      throw new NereidException(StatusCode.INTERNAL, "TensorRT could not write the timing cache");
    }
    try {
      SerializedFile.write(file.orElseThrow(), memory);
    } finally {
      NativeObjects.delete(memory);
    }
  }

  @Override
  public void close() {
    NativeObjects.delete(cache);
  }
}
