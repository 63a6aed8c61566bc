package io.nereid.tensorrt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The places in which libraries are searched, with libraries that every system has. */
class LibraryFinderTest {

  @TempDir private Path directory;

  @Test
  void theUsersDirectoriesComeFirst() throws IOException {
    Path second = Files.createDirectory(directory.resolve("second"));
    Files.writeString(second.resolve("libx.so.1"), "");
    LibraryFinder finder = new LibraryFinder(List.of(directory, second));
    assertEquals(second.resolve("libx.so.1"), finder.named("libx.so.1").orElseThrow());
    assertTrue(finder.named("liby.so.1").isEmpty());
  }

  @Test
  void theSystemsLoaderIsAskedNext() {
    LibraryFinder finder = new LibraryFinder(List.of(directory));
    assertEquals("libm.so.6", finder.load("libm.so.6", "no/such/resource", List.of()));
  }

  @Test
  void librariesThatCannotBeLoadedAreNamed() throws IOException {
    Path broken = Files.writeString(directory.resolve("libx.so.1"), "no library");
    LibraryFinder finder = new LibraryFinder(List.of(directory));
    NereidException e =
        assertThrows(NereidException.class, () -> finder.load("libx.so.1", "no/such", List.of()));
    assertEquals(StatusCode.UNAVAILABLE, e.code());
    assertTrue(e.getMessage().startsWith(broken + " is there but cannot be loaded"));
  }

  @Test
  void aMissingLibraryIsToldWithAllPlaces() {
    NereidException e =
        assertThrows(
            NereidException.class,
            () ->
                new LibraryFinder(List.of())
                    .load("libnowhere.so.9", "no/such", List.of("/opt/nowhere")));
    assertEquals(
        "libnowhere.so.9 was not found: expected it in a directory of NEREID_TENSORRT_DIR or"
            + " -Dnereid.tensorrt.dir (neither is set), on the class path, where the system's"
            + " loader looks, or in /opt/nowhere: set NEREID_TENSORRT_DIR to the directories that"
            + " have NVIDIA's libraries, separated by colons",
        e.getMessage());
  }
}
