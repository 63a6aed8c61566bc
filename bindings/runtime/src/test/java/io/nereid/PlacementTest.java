package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.Batch;
import io.nereid.model.InstanceGroup;
import io.nereid.model.InstancePlacement;
import io.nereid.model.ModelContext;
import io.nereid.model.ModelSpec;
import io.nereid.statistics.MemoryUsage;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Instance groups: how many instances a backend is asked for, and where. */
class PlacementTest extends RuntimeTest {

  /** A backend that says it can use two GPUs, and writes down what it is asked for. */
  private static final class Devices implements Backend {
    private final List<Integer> devices;
    private final List<String> opened = Collections.synchronizedList(new ArrayList<>());

    Devices(Integer... devices) {
      this.devices = List.of(devices);
    }

    @Override
    public List<Integer> devices() {
      return devices;
    }

    @Override
    public BackendInstance open(ModelContext context) {
      InstancePlacement placement = context.placement();
      String where = placement.device().isPresent() ? "gpu" + placement.device().getAsInt() : "cpu";
      opened.add(placement.group().name() + "@" + where + placement.group().profiles());
      return new BackendInstance() {
        @Override
        public void execute(Batch batch) {
          batch.output("OUT", batch.input("IN"));
        }

        @Override
        public MemoryUsage memoryUsage() {
          return new MemoryUsage(1000, 10, 0);
        }
      };
    }

    List<String> opened() {
      return opened.stream().sorted().toList();
    }
  }

  private static InstanceGroup group(
      String name, InstanceGroup.Kind kind, int count, List<Integer> devices) {
    return new InstanceGroup(name, kind, count, devices, List.of("p" + name));
  }

  @Test
  void groupsArePlacedOnTheDevicesThatTheyName() {
    Devices backend = new Devices(0, 1);
    nereid.load(
        identity("m")
            .backend(backend)
            .instances(group("a", InstanceGroup.Kind.GPU, 2, List.of(1)))
            .instances(group("b", InstanceGroup.Kind.AUTO, 1, List.of()))
            .instances(group("c", InstanceGroup.Kind.CPU, 1, List.of()))
            .build());
    assertEquals(
        List.of("a@gpu1[pa]", "a@gpu1[pa]", "b@gpu0[pb]", "b@gpu1[pb]", "c@cpu[pc]"),
        backend.opened());
    assertEquals(5, nereid.model("m").statistics().instanceCount());
  }

  @Test
  void withoutDevicesEverythingRunsOnTheProcessor() {
    Devices backend = new Devices();
    nereid.load(
        identity("m")
            .backend(backend)
            .instances(group("a", InstanceGroup.Kind.GPU, 2, List.of(3)))
            .build());
    assertEquals(List.of("a@cpu[pa]", "a@cpu[pa]"), backend.opened());
  }

  @Test
  void aDeviceThatIsNotThereIsRefused() {
    ModelSpec spec =
        identity("m")
            .backend(new Devices(0, 1))
            .instances(group("a", InstanceGroup.Kind.GPU, 1, List.of(2)))
            .build();
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "instance group 'a' asks for GPU 2, the backend can use [0, 1]",
        () -> nereid.load(spec));
  }

  @Test
  void useOfInstancesIsAddedUp() {
    Model model = nereid.load(identity("m").backend(new Devices()).instanceCount(3).build());
    assertEquals(new MemoryUsage(3000, 30, 0), model.memoryUsage());
    try (var request = model.newRequest().input("IN", row(1))) {
      try (var response = request.infer()) {
        assertTrue(model.memoryUsage().pool() >= 32, "input and output: " + model.memoryUsage());
        assertEquals(1, response.output("OUT").floatAt(0));
      }
    }
    assertEquals(0, model.memoryUsage().pool());
    model.unload();
    assertEquals(MemoryUsage.UNKNOWN, model.memoryUsage());
  }
}
