package io.nereid.server.memory;

/**
 * Memory of a GPU that a client registered, from where the client allocated it.
 *
 * @param name what requests call it
 * @param deviceId the number of the GPU
 * @param byteSize its size
 */
public record CudaRegion(String name, long deviceId, long byteSize) implements Region {

  @Override
  public long offset() {
    return 0;
  }
}
