package io.nereid.server.memory;

/** Memory that a client registered under a name, of whatever kind. */
sealed interface Region permits SharedMemoryRegion, CudaRegion {

  /** What requests call it. */
  String name();

  /** Where in its memory it begins, in bytes. */
  long offset();

  /** Its size. */
  long byteSize();
}
