package io.nereid.server.shared;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;

/**
 * Computes the heap that long byte arrays really take. The collector G1 gives an array longer than
 * half a region whole regions, so that one byte too many costs up to a region.
 */
public final class HeapArrays {

  /** The bytes that an array has in front of its elements. */
  private static final int HEADER_BYTES = 16;

  /** The longest array. */
  static final int MOST_BYTES = Integer.MAX_VALUE - 2 * HEADER_BYTES;

  /** Arrays below this length fit half a region of any size. */
  private static final int SHORT_BYTES = 256 << 10;

  private HeapArrays() {}

  /** The size of G1's regions, looked up at the first long array. */
  private static final class Region {
    static final long BYTES = bytes();

    private static long bytes() {
      HotSpotDiagnosticMXBean vm =
          ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
      boolean g1 = Boolean.parseBoolean(vm.getVMOption("UseG1GC").getValue());
      return g1 ? Long.parseLong(vm.getVMOption("G1HeapRegionSize").getValue()) : 0;
    }
  }

  /** Bytes of the heap that an array takes. */
  public static long cost(long length) {
    return length <= SHORT_BYTES ? length : cost(length, Region.BYTES);
  }

  static long cost(long length, long regionBytes) {
    long size = length + HEADER_BYTES;
    if (regionBytes == 0 || size <= regionBytes / 2) {
      return size;
    }
    return (size + regionBytes - 1) / regionBytes * regionBytes;
  }

  /** The new length of an array that was too short: as long as its cost allows. */
  public static int grown(int length, int least) {
    long wanted = Math.max(least, Math.min(2L * length, 1 << 30));
    if (wanted > SHORT_BYTES) {
      wanted = Math.max(wanted, cost(wanted) - HEADER_BYTES);
    }
    return (int) Math.max(least, Math.min(wanted, MOST_BYTES));
  }
}
