package io.nereid.internal.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Directories of processes that end at any point. */
class OwnedDirectoryTest {

  @TempDir Path parent;

  @Test
  void theLockIsDeletedLast() throws Exception {
    List<String> deleted = new ArrayList<>();
    try (WatchService watch = parent.getFileSystem().newWatchService()) {
      try (OwnedDirectory owned = OwnedDirectory.create(parent, "own-")) {
        Files.createDirectories(owned.content().resolve("a/b"));
        owned.content().getParent().register(watch, StandardWatchEventKinds.ENTRY_DELETE);
      }
      while (deleted.size() < 2) {
        WatchKey key = watch.take();
        for (WatchEvent<?> event : key.pollEvents()) {
          deleted.add(event.context().toString());
        }
        key.reset();
      }
    }
    assertEquals(List.of("content", "lock"), deleted);
  }

  @Test
  void whatNobodyLockedIsDeletedWhenItIsOld() throws IOException {
    Path begun = Files.createDirectory(parent.resolve("own-1"));
    Path left = Files.createDirectory(parent.resolve("own-2"));
    Files.createFile(left.resolve("new"));
    Instant before = Instant.now().minus(Duration.ofDays(2));
    Files.setLastModifiedTime(left, FileTime.from(before));
    OwnedDirectory.create(parent, "own-").close();
    assertTrue(Files.exists(begun));
    assertFalse(Files.exists(left));
  }
}
