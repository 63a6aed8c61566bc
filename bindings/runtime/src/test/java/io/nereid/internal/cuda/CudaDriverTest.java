package io.nereid.internal.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The CUDA driver: what is said where there is none, and what it does where there is a GPU. */
class CudaDriverTest {

  private static final String NO_GPU = "there is no GPU here: ";

  @Test
  void withoutADriverTheReasonNamesTheSearchedFiles() {
    assumeFalse(CudaDriver.isPresent(), "there is a GPU here");
    assertFalse(CudaDriver.absence().isEmpty());
    NereidException e = assertThrows(NereidException.class, CudaDriver::instance);
    assertEquals(StatusCode.UNAVAILABLE, e.code());
    assertEquals(CudaDriver.absence(), e.getMessage());
  }

  @Test
  void aLibraryThatIsNotThereIsNamed() {
    NereidException e =
        assertThrows(NereidException.class, () -> CudaDriver.open("libnodriver.so.1"));
    assertEquals(StatusCode.UNAVAILABLE, e.code());
    assertEquals(
        "there is no NVIDIA driver: libnodriver.so.1 was not found by the system's loader",
        e.getMessage());
  }

  @Test
  void aLibraryThatIsNoDriverIsNamedWithWhatItLacks() {
    NereidException e = assertThrows(NereidException.class, () -> CudaDriver.open("libc.so.6"));
    assertEquals(StatusCode.UNAVAILABLE, e.code());
    assertEquals(
        "libc.so.6 lacks cuInit: expected the library of an NVIDIA driver", e.getMessage());
  }

  /** CUipcMemHandle is 64 bytes without alignment, and goes by value. */
  @Test
  void handlesOfMemoryHave64Bytes() {
    assertEquals(64, CudaLibrary.IPC_HANDLE.byteSize());
    assertEquals(1, CudaLibrary.IPC_HANDLE.byteAlignment());
    assertEquals(64, IpcMemory.HANDLE_BYTES);
  }

  // ---- With a GPU ------------------------------------------------------------------------------

  @Test
  @Tag("gpu")
  void theDriverTellsItsGpus() {
    assumeTrue(CudaDriver.isPresent(), NO_GPU + CudaDriver.absence());
    CudaDriver driver = CudaDriver.instance();
    assertTrue(Pattern.matches("\\d+\\.\\d", driver.cudaVersion()), driver.cudaVersion());
    CudaDevice first = driver.device(0);
    assertEquals(0, first.number());
    assertFalse(first.name().isEmpty());
    NereidException e =
        assertThrows(NereidException.class, () -> driver.device(driver.devices().size()));
    assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
  }

  @Test
  @Tag("gpu")
  void memoryIsLockedAndUnlocked() {
    assumeTrue(CudaDriver.isPresent(), NO_GPU + CudaDriver.absence());
    CudaDevice device = CudaDriver.instance().device(0);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(1 << 20, 4096);
      device.lockPages(memory.address(), memory.byteSize());
      NereidException twice =
          assertThrows(
              NereidException.class, () -> device.lockPages(memory.address(), memory.byteSize()));
      assertTrue(
          twice.getMessage().contains("CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"),
          twice.getMessage());
      device.unlockPages(memory.address());
      device.lockPages(memory.address(), memory.byteSize());
      device.unlockPages(memory.address());
    }
  }

  @Test
  @Tag("gpu")
  void aHandleThatNobodyMadeIsRefused() {
    assumeTrue(CudaDriver.isPresent(), NO_GPU + CudaDriver.absence());
    CudaDevice device = CudaDriver.instance().device(0);
    NereidException e =
        assertThrows(NereidException.class, () -> device.openIpc(new byte[IpcMemory.HANDLE_BYTES]));
    assertTrue(
        e.getMessage().startsWith("cuIpcOpenMemHandle failed with CUDA_ERROR_"), e.getMessage());
  }
}
