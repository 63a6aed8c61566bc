package io.nereid.internal.loader;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UnpackedFileTest {

  @TempDir Path cache;

  private final byte[] content = "the library".getBytes();

  private Path unpack(byte[] bytes) throws IOException {
    return UnpackedFile.of(() -> new ByteArrayInputStream(bytes), "lib.so", cache);
  }

  @Test
  void itIsWrittenOnceIntoAPrivateDirectory() throws Exception {
    Path file = unpack(content);
    assertArrayEquals(content, Files.readAllBytes(file));
    assertTrue(file.startsWith(cache.resolve("nereid")));
    assertEquals(
        "rwx------",
        PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())));
    FileTime early = FileTime.fromMillis(1000);
    Files.setLastModifiedTime(file, early);
    assertEquals(file, unpack(content));
    assertEquals(early, Files.getLastModifiedTime(file));
    try (var entries = Files.list(file.getParent())) {
      assertEquals(1, entries.count());
    }
  }

  @Test
  void otherContentGoesElsewhere() throws Exception {
    assertNotEquals(unpack(content), unpack("another".getBytes()));
  }

  @Test
  void aDamagedFileIsReplaced() throws Exception {
    Path file = unpack(content);
    Files.writeString(file, "the librarx");
    assertEquals(file, unpack(content));
    assertArrayEquals(content, Files.readAllBytes(file));
  }

  @Test
  void aJarTellsTheChecksumOfItsEntries() throws Exception {
    Path jar = cache.resolve("library.jar");
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(jar))) {
      zip.putNextEntry(new ZipEntry("lib.so"));
      zip.write(content);
    }
    Checksum checksum = Checksum.of(new ByteArrayInputStream(content));
    URL inJar = URI.create("jar:" + jar.toUri() + "!/lib.so").toURL();
    assertEquals(checksum, Checksum.of(inJar));
    Path file = Files.write(cache.resolve("lib.so"), content);
    assertEquals(checksum, Checksum.of(file.toUri().toURL()));
    assertEquals(content.length, checksum.bytes());
    assertNotEquals(checksum, Checksum.of(new ByteArrayInputStream("the librarx".getBytes())));
  }

  @Test
  void aDirectoryThatOthersCanWriteIsNotTrusted() throws Exception {
    Path shared = Files.createDirectories(cache.resolve("nereid"));
    Files.setPosixFilePermissions(shared, PosixFilePermissions.fromString("rwxrwxrwx"));
    Path file = unpack(content);
    assertFalse(file.startsWith(cache));
    assertArrayEquals(content, Files.readAllBytes(file));
  }

  @Test
  void aTemporaryDirectoryServesIfNoneCanBeMade() throws Exception {
    Files.writeString(cache.resolve("nereid"), "a file where the directory should be");
    Path file = unpack(content);
    assertFalse(file.startsWith(cache));
    assertArrayEquals(content, Files.readAllBytes(file));
  }

  @Test
  void aSymbolicLinkIsNotFollowed() throws Exception {
    Path file = unpack(content);
    Path elsewhere = Files.write(cache.resolve("elsewhere"), content);
    Files.delete(file);
    Files.createSymbolicLink(file, elsewhere);
    assertEquals(file, unpack(content));
    assertFalse(Files.isSymbolicLink(file));
  }

  @Test
  void manyAtOnceAgree() throws Exception {
    byte[] large = new byte[1 << 20];
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      Callable<Path> task = () -> unpack(large);
      Set<Path> files = new HashSet<>();
      for (Future<Path> future :
          executor.invokeAll(IntStream.range(0, 16).mapToObj(i -> task).toList())) {
        files.add(future.get());
      }
      assertEquals(1, files.size());
      assertArrayEquals(large, Files.readAllBytes(files.iterator().next()));
    }
  }

  @Test
  void unsupportedPlatformsAreNamed() {
    assertEquals("linux-x86_64", LibraryFiles.platform("Linux", "amd64").directory());
    assertEquals("linux-aarch64", LibraryFiles.platform("Linux", "aarch64").directory());
    for (String[] platform : new String[][] {{"Mac OS X", "aarch64"}, {"Linux", "riscv64"}}) {
      NereidException e =
          assertThrows(
              NereidException.class, () -> LibraryFiles.platform(platform[0], platform[1]));
      assertEquals(StatusCode.UNIMPLEMENTED, e.code());
      assertTrue(e.getMessage().contains(platform[0] + " on " + platform[1]), e.getMessage());
    }
  }

  @Test
  void anOptionThatNamesNothingIsRefused() {
    Path nowhere = cache.resolve("libnereid.so");
    NereidException e =
        assertThrows(NereidException.class, () -> LibraryFiles.nativeLibrary(Optional.of(nowhere)));
    assertEquals(StatusCode.NOT_FOUND, e.code());
    assertTrue(e.getMessage().contains(nowhere.toString()), e.getMessage());
  }
}
