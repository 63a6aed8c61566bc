package io.nereid.stores;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.model.ModelState;
import io.nereid.model.ModelStore;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.StoreOptions;
import io.nereid.types.NereidException;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models whose files are sealed. */
class SealedModelTest {

  @TempDir Path root;
  private Path models;
  private Path key;

  @BeforeEach
  void seal() throws IOException {
    models = root.resolve("models");
    key = root.resolve("seal.key");
    Seal.makeKey(key);
    Seal.ofFile(key).seal(Fixture.EXAMPLES.resolve("simple"), models.resolve("simple"));
  }

  private RepositoryOptions options(StoreOptions.Builder store) {
    return RepositoryOptions.builder()
        .repository(models)
        .store(ModelStore.open(store.build()))
        .build();
  }

  /** The directories for plain files that this process has, by their locks. */
  private static List<String> held() throws IOException {
    List<String> held = new ArrayList<>();
    for (String number : new File("/proc/self/fd").list()) {
      try {
        held.add(Files.readSymbolicLink(Path.of("/proc/self/fd", number)).toString());
      } catch (IOException e) {
        // It was closed meanwhile.
      }
    }
    held.removeIf(file -> !file.contains("nereid-view-"));
    return held;
  }

  @Test
  void aSealedModelIsServedAndItsPlainFileIsOnNoDisk() throws IOException {
    assertTrue(Files.exists(models.resolve("simple/1/model.onnx.sealed")));
    try (Nereid nereid = Nereid.open(options(StoreOptions.builder().sealKeyFile(key)))) {
      assertEquals(ModelState.READY, nereid.model("simple").state());
      assertEquals(List.of(), held()); // the model has what it needs
    }
    try (Nereid nereid =
        Nereid.open(options(StoreOptions.builder().sealKeyCommand("cat " + key)))) {
      assertEquals(ModelState.READY, nereid.model("simple").state());
    }
  }

  @Test
  void aPipeInADirectoryThatLooksLeftBehindHoldsNobodyUp() throws Exception {
    Path trap = Files.createTempDirectory("nereid-view-");
    Path lock = trap.resolve("lock");
    try {
      assertEquals(0, new ProcessBuilder("mkfifo", lock.toString()).start().waitFor());
      assertTimeoutPreemptively(
          Duration.ofMinutes(2),
          () -> Seal.open(models.resolve("simple"), Seal.ofFile(key)).release().run());
      assertTrue(Files.exists(lock));
    } finally {
      Files.deleteIfExists(lock);
      Files.delete(trap);
    }
  }

  @Test
  void aModelMayHaveTheNameOfALock() throws IOException {
    Path lock = root.resolve("sealed/lock");
    Seal.ofFile(key).seal(Fixture.EXAMPLES.resolve("simple"), lock);
    ModelStore.Content opened = Seal.open(lock, Seal.ofFile(key));
    assertTrue(Files.exists(opened.place().resolve("1/model.onnx")));
    assertEquals(1, held().size());
    opened.release().run();
    assertEquals(List.of(), held());
  }

  @Test
  void withoutTheKeyItIsRefused() throws IOException {
    Path other = root.resolve("other.key");
    Seal.makeKey(other);
    for (StoreOptions.Builder store :
        List.of(
            StoreOptions.builder().requireSignature(publicKey()),
            StoreOptions.builder().sealKeyFile(other))) {
      try (Nereid nereid = Nereid.open(options(store))) {
        assertEquals(ModelState.FAILED, nereid.models().getFirst().state());
      }
    }
    assertThrows(
        NereidException.class, () -> options(StoreOptions.builder().sealKeyCommand("exit 3")));
    Files.writeString(other, "short");
    assertThrows(NereidException.class, () -> options(StoreOptions.builder().sealKeyFile(other)));
  }

  private Path publicKey() throws IOException {
    Signatures.makeKeys(root.resolve("k.pem"), root.resolve("k.pub.pem"));
    return root.resolve("k.pub.pem");
  }

  @Test
  void chunksCannotBeChangedMovedOrLeftOut() throws IOException {
    Path model = root.resolve("plain/m");
    Files.createDirectories(model.resolve("1"));
    byte[] content = new byte[(2 << 20) + 5];
    new Random(3).nextBytes(content);
    for (int size : new int[] {0, 1, 1 << 20, 2 << 20, content.length}) {
      Files.write(model.resolve("1/f"), java.util.Arrays.copyOf(content, size));
      Path sealed = root.resolve("sealed" + size + "/m");
      Seal seal = Seal.ofFile(key);
      seal.seal(model, sealed);
      ModelStore.Content opened = Seal.open(sealed, seal);
      assertArrayEquals(
          java.util.Arrays.copyOf(content, size),
          Files.readAllBytes(opened.place().resolve("1/f")));
      opened.release().run();
      Path file = sealed.resolve("1/f.sealed");
      byte[] bytes = Files.readAllBytes(file);
      int chunk = (64 << 10) + 16;
      int[] ends = {24 + chunk, bytes.length - 1, bytes.length};
      for (int end : ends) {
        byte[] changed = java.util.Arrays.copyOf(bytes, Math.min(end, bytes.length));
        if (end == bytes.length) {
          changed[changed.length / 2] ^= 4;
        } else if (changed.length == bytes.length) {
          continue;
        }
        Files.write(file, changed);
        IOException e =
            assertThrows(IOException.class, () -> Seal.open(sealed, seal), size + " " + end);
        assertTrue(e.getMessage().contains("f.sealed"), e.getMessage());
      }
    }
  }

  @Test
  void aSealedModelCanBeSigned() throws IOException {
    Path privateKey = root.resolve("k.pem");
    Path trusted = publicKey();
    Signatures.sign(models.resolve("simple"), privateKey);
    StoreOptions.Builder store = StoreOptions.builder().sealKeyFile(key).requireSignature(trusted);
    try (Nereid nereid = Nereid.open(options(store))) {
      assertEquals(ModelState.READY, nereid.model("simple").state());
    }
    assertEquals(44 + 1, Files.readString(key, StandardCharsets.US_ASCII).length());
  }
}
