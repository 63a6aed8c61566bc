package io.nereid.stores;

import io.nereid.internal.loader.OwnedDirectory;
import io.nereid.model.ModelStore;
import io.nereid.model.StoreOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import javax.crypto.Cipher;
import javax.crypto.KDF;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.HKDFParameterSpec;

/**
 * Seals files of models, and opens them in memory. A sealed file has a head of eight bytes, sixteen
 * random ones, and the content in chunks under AES-256-GCM. Its key is derived from the given one
 * and the random bytes (HKDF with SHA-256); the nonce of a chunk is its number, and whether it is
 * the last, so that none can be left out, added or moved. Any thread may call.
 */
public final class Seal {

  /** The ending of the names of sealed files. */
  private static final String ENDING = ".sealed";

  private static final byte[] HEAD = "NRDSEAL1".getBytes(StandardCharsets.US_ASCII);
  private static final int SALT_BYTES = 16;
  private static final int KEY_BYTES = 32;
  private static final int CHUNK_BYTES = 64 << 10;
  private static final int TAG_BYTES = 16;

  /** Plain files beside sealed ones are copied up to this size, and are links from there on. */
  private static final long MAX_COPIED_BYTES = 16 << 20;

  private final byte[] key;

  private Seal(byte[] key) {
    this.key = key;
  }

  /** Reads the key that options name; null: none. */
  static Seal of(StoreOptions options) throws IOException {
    if (options.sealKeyFile().isPresent()) {
      return ofFile(options.sealKeyFile().get());
    }
    return options.sealKeyCommand().isPresent() ? ofCommand(options.sealKeyCommand().get()) : null;
  }

  /** Reads the key in a file. */
  public static Seal ofFile(Path file) throws IOException {
    return new Seal(key(Files.readAllBytes(file), file.toString()));
  }

  /** Has a command of the shell print the key. */
  public static Seal ofCommand(String command) throws IOException {
    Process process =
        new ProcessBuilder("/bin/sh", "-c", command)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    byte[] printed = process.getInputStream().readAllBytes();
    try {
      if (process.waitFor() != 0) {
        throw new IOException("the command for the key ended with " + process.exitValue());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
    return new Seal(key(printed, "what the command for the key printed"));
  }

  private static byte[] key(byte[] bytes, String where) throws IOException {
    if (bytes.length == KEY_BYTES) {
      return bytes;
    }
    String text = new String(bytes, StandardCharsets.ISO_8859_1).strip();
    try {
      byte[] key =
          text.length() == 2 * KEY_BYTES
              ? HexFormat.of().parseHex(text)
              : Base64.getDecoder().decode(text);
      if (key.length == KEY_BYTES) {
        return key;
      }
    } catch (IllegalArgumentException e) {
      // It is neither of the two.
    }
    throw new IOException(where + ": expected 32 bytes, plain, in hexadecimal or in Base64");
  }

  /** Writes a new key into a file that only its owner reads. */
  public static void makeKey(Path file) throws IOException {
    Signatures.writePrivate(file, Base64.getEncoder().encodeToString(random(KEY_BYTES)) + "\n");
  }

  private static byte[] random(int count) {
    byte[] bytes = new byte[count];
    new SecureRandom().nextBytes(bytes);
    return bytes;
  }

  // ---- Sealing ---------------------------------------------------------------------------------

  /**
   * Copies a model, with the files of its versions sealed; others, such as the configuration and
   * labels, stay readable.
   */
  public void seal(Path model, Path copy) throws IOException {
    for (Path file : files(model)) {
      Path name = model.relativize(file);
      boolean isOfVersion = name.getNameCount() > 1 && name.getName(0).toString().matches("\\d+");
      boolean isManifest = name.toString().equals(Manifest.NAME); // which will not fit any more
      Path target = copy.resolve(isOfVersion ? name + ENDING : name.toString());
      Files.createDirectories(target.getParent());
      if (isOfVersion && !name.toString().endsWith(ENDING)) {
        sealFile(file, target);
      } else if (!isManifest) {
        Files.copy(file, copy.resolve(name));
      }
    }
  }

  private void sealFile(Path from, Path to) throws IOException {
    byte[] salt = random(SALT_BYTES);
    try (FileChannel in = FileChannel.open(from);
        FileChannel out =
            FileChannel.open(to, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      write(out, ByteBuffer.wrap(HEAD));
      write(out, ByteBuffer.wrap(salt));
      chunks(Cipher.ENCRYPT_MODE, salt, in, out, CHUNK_BYTES);
    }
  }

  /** Passes what is left of a file through the cipher, chunk by chunk. */
  private void chunks(int mode, byte[] salt, FileChannel in, FileChannel out, int chunkBytes)
      throws IOException {
    try {
      SecretKey fileKey =
          KDF.getInstance("HKDF-SHA256")
              .deriveKey(
                  "AES",
                  HKDFParameterSpec.ofExtract()
                      .addIKM(key)
                      .addSalt(salt)
                      .thenExpand(HEAD, KEY_BYTES));
      Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
      ByteBuffer chunk = ByteBuffer.allocate(chunkBytes);
      ByteBuffer done = ByteBuffer.allocate(CHUNK_BYTES + TAG_BYTES);
      long number = 0;
      boolean last;
      do {
        chunk.clear();
        while (chunk.hasRemaining() && in.read(chunk) >= 0) {
          // It takes what there is.
        }
        last = in.position() >= in.size();
        byte[] nonce = ByteBuffer.allocate(12).putInt(last ? 1 : 0).putLong(number++).array();
        cipher.init(mode, fileKey, new GCMParameterSpec(8 * TAG_BYTES, nonce));
        done.clear();
        cipher.doFinal(chunk.flip(), done);
        write(out, done.flip());
      } while (!last);
      Arrays.fill(done.array(), (byte) 0);
    } catch (GeneralSecurityException e) {
      throw new IOException("it was sealed with another key, or was changed", e);
    }
  }

  private static void write(FileChannel out, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      out.write(bytes);
    }
  }

  // ---- Opening ---------------------------------------------------------------------------------

  /**
   * Opens a model whose files may be sealed: those are in memory then, and the returned directory
   * has links to them under their own names.
   *
   * @param seal null: there is no key
   */
  static ModelStore.Content open(Path model, Seal seal) throws IOException {
    List<Path> files = Files.isDirectory(model) ? files(model) : List.of();
    List<Path> sealed = files.stream().filter(file -> file.toString().endsWith(ENDING)).toList();
    if (sealed.isEmpty()) {
      return ModelStore.Content.at(model);
    }
    if (seal == null) {
      throw new IOException(
          model.relativize(sealed.getFirst()) + " is sealed, and there is no key");
    }
    OwnedDirectory directory =
        OwnedDirectory.create(Path.of(System.getProperty("java.io.tmpdir")), "nereid-view-");
    List<Memfd> memory = new ArrayList<>();
    Runnable release =
        () -> {
          memory.forEach(Memfd::close);
          memory.clear();
          directory.close();
        };
    try {
      Path copy = directory.content().resolve(model.getFileName());
      for (Path file : files) {
        seal.place(file, copy.resolve(model.relativize(file).toString()), memory);
      }
      return new ModelStore.Content(copy, release);
    } catch (IOException | RuntimeException e) {
      release.run();
      throw e;
    }
  }

  private void place(Path file, Path target, List<Memfd> memory) throws IOException {
    Files.createDirectories(target.getParent());
    String name = target.getFileName().toString();
    if (name.endsWith(ENDING)) {
      Memfd opened = Memfd.create();
      memory.add(opened);
      openFile(file, opened);
      Path plain = target.resolveSibling(name.substring(0, name.length() - ENDING.length()));
      Files.createSymbolicLink(plain, opened.path());
    } else if (Files.size(file) <= MAX_COPIED_BYTES) {
      Files.copy(file, target);
    } else {
      Files.createSymbolicLink(target, file.toRealPath());
    }
  }

  private void openFile(Path file, Memfd memory) throws IOException {
    try (FileChannel in = FileChannel.open(file);
        FileChannel out = FileChannel.open(memory.path(), StandardOpenOption.WRITE)) {
      ByteBuffer head = ByteBuffer.allocate(HEAD.length + SALT_BYTES);
      while (head.hasRemaining() && in.read(head) >= 0) {
        // It takes what there is.
      }
      byte[] salt = Arrays.copyOfRange(head.array(), HEAD.length, head.capacity());
      if (!Arrays.equals(head.array(), 0, HEAD.length, HEAD, 0, HEAD.length)) {
        throw new IOException("it is no sealed file");
      }
      chunks(Cipher.DECRYPT_MODE, salt, in, out, CHUNK_BYTES + TAG_BYTES);
    } catch (IOException e) {
      throw new IOException(file.getFileName() + " cannot be opened: " + e.getMessage(), e);
    }
  }

  private static List<Path> files(Path model) throws IOException {
    try (Stream<Path> all = Files.walk(model, FileVisitOption.FOLLOW_LINKS)) {
      return all.filter(Files::isRegularFile).sorted().toList();
    }
  }
}
