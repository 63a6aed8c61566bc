package io.nereid.internal.request;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.nereid.internal.ffi.Registry;
import io.nereid.internal.request.Signature.NameTable;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class NameTableTest {

  @Test
  void everyNameIsFoundAndNoOther() {
    for (int size : new int[] {0, 1, 2, 3, 7, 8, 9, 100}) {
      List<String> names = IntStream.range(0, size).mapToObj(i -> "INPUT" + i).toList();
      NameTable table = new NameTable(names);
      for (int i = 0; i < size; i++) {
        assertEquals(i, table.position("INPUT" + i));
        assertEquals("INPUT" + i, table.name(i));
      }
      assertEquals(-1, table.position("INPUT" + size));
      assertEquals(-1, table.position(""));
      assertEquals(size, table.size());
    }
  }

  @Test
  void namesWithEqualHashesAreToldApart() {
    NameTable table = new NameTable(List.of("Aa", "BB")); // the same hashCode
    assertEquals(0, table.position("Aa"));
    assertEquals(1, table.position("BB"));
    assertEquals(-1, table.position("C#"));
  }

  @Test
  void aNameTwiceIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> new NameTable(List.of("a", "b", "a")));
  }

  @Test
  void aRegistryForgetsAndReusesNumbers() {
    Registry<String> registry = new Registry<>();
    long one = registry.add("one");
    long two = registry.add("two");
    assertEquals("one", registry.find(one));
    assertEquals("one", registry.remove(one));
    assertNull(registry.find(one));
    assertNull(registry.remove(one));
    assertNull(registry.find(0));
    assertNull(registry.find(-1));
    assertNull(registry.find(1000));
    assertEquals(one, registry.add("three"));
    assertEquals("two", registry.find(two));
  }
}
