package io.nereid.tensorrt.builder;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Calls the object as C++ does: through the functions of its table. */
@SuppressWarnings("restricted")
final class MonitorObjectTest {

  /** Two of the version, two destructors, three of progress. */
  private static final int SLOTS = 7;

  private static final StructLayout INFO = MemoryLayout.structLayout(ADDRESS, JAVA_INT, JAVA_INT);

  private final List<String> heard = new ArrayList<>();

  private final BuildProgress progress =
      new BuildProgress() {
        @Override
        public void started(String phase, Optional<String> parent, int steps) {
          heard.add("started " + phase + " in " + parent + ": " + steps);
        }

        @Override
        public boolean step(String phase, int step) {
          if (step == 99) {
            throw new IllegalStateException("a bar that fails");
          }
          heard.add("step " + step + " of " + phase);
          return step < 2;
        }

        @Override
        public void finished(String phase) {
          heard.add("finished " + phase);
        }
      };

  private static MemorySegment at(MonitorObject object) {
    return MemorySegment.ofAddress(object.address()).reinterpret(ADDRESS.byteSize());
  }

  private static MethodHandle slot(MemorySegment object, int slot, FunctionDescriptor descriptor) {
    MemorySegment table = object.get(ADDRESS, 0).reinterpret(SLOTS * ADDRESS.byteSize());
    return Linker.nativeLinker().downcallHandle(table.getAtIndex(ADDRESS, slot), descriptor);
  }

  @Test
  void tellsWhatItIs() throws Throwable {
    try (Arena arena = Arena.ofConfined();
        MonitorObject object = new MonitorObject(progress)) {
      MemorySegment self = at(object);
      int language = (int) slot(self, 0, FunctionDescriptor.of(JAVA_INT, ADDRESS)).invoke(self);
      assertEquals(0, language);
      MemorySegment info =
          (MemorySegment)
              slot(self, 1, FunctionDescriptor.of(INFO, ADDRESS))
                  .invoke((SegmentAllocator) arena, self);
      assertEquals("IProgressMonitor", info.get(ADDRESS, 0).reinterpret(64).getString(0));
      assertEquals(1, info.get(JAVA_INT, 8));
      assertEquals(0, info.get(JAVA_INT, 12));
    }
  }

  @Test
  void tellsProgress() throws Throwable {
    try (Arena arena = Arena.ofConfined();
        MonitorObject object = new MonitorObject(progress)) {
      MemorySegment self = at(object);
      MethodHandle started =
          slot(self, 4, FunctionDescriptor.ofVoid(ADDRESS, ADDRESS, ADDRESS, JAVA_INT));
      MethodHandle step =
          slot(self, 5, FunctionDescriptor.of(JAVA_BOOLEAN, ADDRESS, ADDRESS, JAVA_INT));
      MethodHandle finished = slot(self, 6, FunctionDescriptor.ofVoid(ADDRESS, ADDRESS));
      MemorySegment all = arena.allocateFrom("all");
      MemorySegment part = arena.allocateFrom("part");
      started.invoke(self, all, MemorySegment.NULL, 3);
      started.invoke(self, part, all, 7);
      assertTrue((boolean) step.invoke(self, part, 1));
      assertFalse((boolean) step.invoke(self, part, 2));
      finished.invoke(self, part);
      assertEquals(
          List.of(
              "started all in Optional.empty: 3",
              "started part in Optional[all]: 7",
              "step 1 of part",
              "step 2 of part",
              "finished part"),
          heard);
    }
  }

  @Test
  void aFailureGoesOn() throws Throwable {
    try (Arena arena = Arena.ofConfined();
        MonitorObject object = new MonitorObject(progress)) {
      MemorySegment self = at(object);
      MethodHandle step =
          slot(self, 5, FunctionDescriptor.of(JAVA_BOOLEAN, ADDRESS, ADDRESS, JAVA_INT));
      assertTrue((boolean) step.invoke(self, arena.allocateFrom("x"), 99));
    }
  }
}
