package io.nereid.server.memory;

/** Memory of any kind that a client registered under a name. */
public sealed interface Region {

  /** The name of the region in requests. */
  String name();

  /** The offset of the region in its memory, in bytes. */
  long offset();

  /** Its size. */
  long byteSize();

  /**
   * A part of a segment of system shared memory that a client registered.
   *
   * @param name what requests call it
   * @param key the segment that it is part of
   * @param offset where in the segment it begins, in bytes
   * @param byteSize its size
   */
  record SystemRegion(String name, String key, long offset, long byteSize) implements Region {}

  /**
   * Memory of a GPU that a client registered, from where the client allocated it.
   *
   * @param name what requests call it
   * @param deviceId the number of the GPU
   * @param byteSize its size
   */
  record CudaRegion(String name, long deviceId, long byteSize) implements Region {

    @Override
    public long offset() {
      return 0;
    }
  }
}
