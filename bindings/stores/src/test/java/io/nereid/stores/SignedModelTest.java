package io.nereid.stores;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.model.ModelOverride;
import io.nereid.model.ModelState;
import io.nereid.model.ModelStore;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.StoreOptions;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models with signatures, in directories and in a store. */
class SignedModelTest {

  @TempDir Path root;
  private Path models;
  private Path key;
  private Path publicKey;

  @BeforeEach
  void sign() throws IOException {
    models = Files.createDirectories(root.resolve("models"));
    key = root.resolve("key.pem");
    publicKey = root.resolve("key.pub.pem");
    Signatures.makeKeys(key, publicKey);
    Signatures.sign(Fixture.copyExample("simple", models), key);
  }

  private StoreOptions.Builder signed() {
    return StoreOptions.builder().requireSignature(publicKey);
  }

  private RepositoryOptions.Builder options() {
    return RepositoryOptions.builder().repository(models).store(ModelStore.open(signed().build()));
  }

  private String refusal() {
    try (Nereid nereid = Nereid.open(options().build())) {
      assertEquals(ModelState.FAILED, nereid.models().getFirst().state());
      return nereid.models().getFirst().failure().orElseThrow();
    }
  }

  @Test
  void aSignedModelIsServed() {
    try (Nereid nereid = Nereid.open(options().build())) {
      assertEquals(ModelState.READY, nereid.model("simple").state());
    }
  }

  @Test
  @Tag("slow")
  void aFlippedByteIsRefusedByTheNameOfItsFile() throws IOException {
    ModelStore store = ModelStore.open(signed().build());
    Path model = models.resolve("simple");
    List<Path> files =
        List.of(
            model.resolve("1/model.onnx"),
            model.resolve("config.pbtxt"),
            model.resolve(Manifest.NAME));
    Random random = new Random(1);
    for (int i = 0; i < 1000; i++) {
      Path file = files.get(i % files.size());
      byte[] content = Files.readAllBytes(file);
      byte[] changed = content.clone();
      // The line break at the manifest's end says nothing.
      changed[random.nextInt(changed.length - 1)] ^= (byte) (1 << random.nextInt(8));
      Files.write(file, changed);
      NereidException e = assertThrows(NereidException.class, () -> store.open(model));
      assertEquals(StatusCode.PERMISSION_DENIED, e.code());
      assertTrue(e.getMessage().contains(file.getFileName().toString()), e.getMessage());
      Files.write(file, content);
    }
    assertEquals(model, store.open(model).place());
  }

  @Test
  void bitsThatBase64LeavesUnusedAreNoPlaceForAChange() throws IOException {
    Path manifest = models.resolve("simple").resolve(Manifest.NAME);
    String text = Files.readString(manifest);
    int last = text.lastIndexOf("==") - 1;
    char changed = (char) (text.charAt(last) + 1);
    Files.writeString(manifest, text.substring(0, last) + changed + text.substring(last + 1));
    assertTrue(refusal().contains("expected a signature in Base64"), refusal());
  }

  @Test
  void aFileMoreOrLessIsRefused() throws IOException {
    Files.writeString(models.resolve("simple/1/more.bin"), "more");
    assertTrue(refusal().contains("1/more.bin is not in the signed manifest"), refusal());
    Files.delete(models.resolve("simple/1/more.bin"));
    Files.delete(models.resolve("simple/config.pbtxt"));
    assertTrue(refusal().contains("config.pbtxt is in the signed manifest"), refusal());
  }

  @Test
  void anotherKeyOrNoneIsRefused() throws IOException {
    Path other = root.resolve("other.pem");
    Signatures.makeKeys(other, root.resolve("other.pub.pem"));
    Signatures.sign(models.resolve("simple"), other);
    assertTrue(refusal().contains("none of the trusted keys has signed it"), refusal());
    Files.delete(models.resolve("simple").resolve(Manifest.NAME));
    assertTrue(refusal().contains("expected a signature"), refusal());
  }

  @Test
  void theManifestOfAnotherModelIsRefused() throws IOException {
    Files.move(models.resolve("simple"), models.resolve("renamed"));
    assertTrue(refusal().contains("got one of another model"), refusal());
  }

  @Test
  void aLoadThatFailsLeavesTheOldOne() throws IOException {
    try (Nereid nereid = Nereid.open(options().explicit("simple").build())) {
      Files.writeString(
          models.resolve("simple/config.pbtxt"),
          "# changed\n",
          java.nio.file.StandardOpenOption.APPEND);
      assertThrows(NereidException.class, () -> nereid.repository().load("simple"));
      assertEquals(ModelState.READY, nereid.model("simple").state());
      ModelOverride files = new ModelOverride(Fixture.IDENTITY_JSON, Map.of("1/x", new byte[1]));
      NereidException e =
          assertThrows(NereidException.class, () -> nereid.repository().load("given", files));
      assertTrue(e.getMessage().contains("must be signed"), e.getMessage());
    }
  }

  @Test
  void aStoresModelIsCheckedAgainstItsManifest(@TempDir Path cache) throws Exception {
    try (S3Server server = S3Server.start()) {
      server.putAll("models", models);
      StoreOptions.Builder store = signed().repository(server.url("models")).cacheDirectory(cache);
      try (Nereid nereid =
          Nereid.open(RepositoryOptions.builder().store(Fixture.open(store)).build())) {
        assertEquals(ModelState.READY, nereid.model("simple").state());
      }
      byte[] other = Files.readAllBytes(models.resolve("simple/1/model.onnx"));
      other[7] ^= 1;
      server.put("models/simple/1/model.onnx", other);
      store.cacheDirectory(root.resolve("empty"));
      try (Nereid nereid =
          Nereid.open(RepositoryOptions.builder().store(Fixture.open(store)).build())) {
        String why = nereid.models().getFirst().failure().orElseThrow();
        assertTrue(why.contains("1/model.onnx"), why);
      }
    }
  }
}
