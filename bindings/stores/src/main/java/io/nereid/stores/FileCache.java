package io.nereid.stores;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * Files by their content, on this machine's disk. {@code blobs} has each content once, under its
 * SHA-256; {@code refs} says which content an object of a store has; {@code partial} has what is
 * being fetched, {@code lists} the last list of each repository, {@code views} what processes make
 * of it. All files get their names when they are complete, so a process can end at any point.
 * Several processes, and the threads of each, use it at the same time.
 */
final class FileCache {

  private static final long PART_BYTES = 8 << 20;

  /** Fetches of different objects seldom share one of so many locks. */
  private static final int LOCK_COUNT = 256;

  /** The time after which a fetch that rests is not gone on with. */
  private static final Duration LONGEST_REST = Duration.ofDays(1);

  /** The end of the name of what says which parts of a file are there. */
  private static final String PARTS = ".parts";

  private static final String HEX_DIGITS = "[0-9a-f]{32}";

  private final Path root;
  private final long byteLimit;
  private final ReentrantLock[] locks = new ReentrantLock[LOCK_COUNT];

  FileCache(Path root, long byteLimit) throws IOException {
    this.root = root;
    this.byteLimit = byteLimit;
    for (String name : List.of("blobs", "refs", "partial", "lists", "views", "locks")) {
      Files.createDirectories(root.resolve(name));
    }
    for (int i = 0; i < LOCK_COUNT; i++) {
      locks[i] = new ReentrantLock();
    }
  }

  /** The directory for what processes make of the files. */
  Path views() {
    return root.resolve("views");
  }

  // ---- Known content ---------------------------------------------------------------------------

  /** The name of what is known of an object. */
  private static String ref(String repository, StoredObject object) {
    return Hashes.sha256(
        String.join("\n", repository, object.key(), object.etag(), "" + object.size()));
  }

  /**
   * Puts the content of an object at a place; false: it has to be fetched.
   *
   * @param sha256 of the content; empty: unknown
   */
  boolean link(String repository, StoredObject object, String sha256, Path place)
      throws IOException {
    Path known = find(repository, object, sha256);
    try {
      if (known != null) {
        Files.createLink(place, known);
      }
      return known != null;
    } catch (NoSuchFileException e) {
      return false; // somebody deleted it meanwhile
    }
  }

  private Path find(String repository, StoredObject object, String sha256) throws IOException {
    Path known = sha256.isEmpty() ? null : blob(sha256, object.size());
    known = known == null ? named(ref(repository, object), object, sha256) : known;
    return known == null ? named(md5Ref(object.etag(), object.size()), object, sha256) : known;
  }

  private Path named(String ref, StoredObject object, String sha256) throws IOException {
    Path file = root.resolve("refs", ref);
    String content = Files.exists(file) ? Files.readString(file) : "";
    boolean isWanted = sha256.isEmpty() ? !content.isEmpty() : sha256.equals(content);
    return isWanted ? blob(content, object.size()) : null;
  }

  private static String md5Ref(String md5, long size) {
    return "md5-" + md5.replaceAll("[^0-9a-f]", "") + "-" + size;
  }

  private Path blob(String sha256, long size) {
    Path blob = root.resolve("blobs", sha256.replaceAll("[^0-9a-f]", "_"));
    try {
      if (Files.size(blob) == size) {
        // When it was used last; models are known by the time of their change.
        Files.setAttribute(blob, "lastAccessTime", FileTime.from(Instant.now()));
        return blob;
      }
    } catch (IOException e) {
      // It is not there, or another user's.
    }
    return null;
  }

  // ---- Fetching --------------------------------------------------------------------------------

  /**
   * Puts the content of an object at a place, and fetches it where it is not known.
   *
   * @param sha256 that it must have; empty: unknown
   * @param done counts fetched bytes
   */
  void fetch(
      HttpStore store,
      String repository,
      StoredObject object,
      String sha256,
      AtomicLong done,
      Path place)
      throws IOException {
    String ref = ref(repository, object);
    int number = Integer.parseInt(ref.substring(0, 2), 16);
    Path lock = root.resolve("locks", Integer.toString(number));
    locks[number].lock();
    try (FileChannel channel =
        FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      channel.lock(); // until the channel is closed
      if (!link(repository, object, sha256, place)) {
        download(store, object, ref, sha256, done, place);
      }
    } finally {
      locks[number].unlock();
    }
  }

  private void download(
      HttpStore store, StoredObject object, String ref, String sha256, AtomicLong done, Path place)
      throws IOException {
    Path partial = root.resolve("partial", ref);
    Path parts = root.resolve("partial", ref + PARTS);
    String before = "";
    while (true) {
      Map<String, String> headers = readParts(store, object, partial, parts, done);
      Hashes hashes = Hashes.of(partial);
      String wrong = mismatch(object, sha256, hashes, headers);
      // Content that comes twice is what a store has whose ETags never were checksums.
      boolean isSame =
          before.equals(hashes.sha256()) && wrong.equals("ETag") && !store.etagsAreDigests;
      if (wrong.isEmpty() || isSame) {
        Path blob = root.resolve("blobs", hashes.sha256());
        Files.createLink(place, partial); // first: what has no link may be deleted
        Files.move(partial, blob, StandardCopyOption.ATOMIC_MOVE);
        blob.toFile().setReadOnly(); // last: a process that goes on with a file has to write it
        Files.deleteIfExists(parts);
        write(root.resolve("refs", ref), hashes.sha256());
        if (object.etag().equals(hashes.md5())) {
          store.etagsAreDigests = true;
          write(root.resolve("refs", md5Ref(hashes.md5(), object.size())), hashes.sha256());
        }
        return;
      }
      Files.deleteIfExists(partial);
      Files.deleteIfExists(parts);
      if (!before.isEmpty()) {
        throw new IOException(object.key() + ": what came does not have its " + wrong + ", twice");
      }
      before = hashes.sha256();
    }
  }

  /** Returns the checksum that content lacks; empty: none. */
  private static String mismatch(
      StoredObject object, String sha256, Hashes hashes, Map<String, String> headers) {
    if (!sha256.isEmpty()) {
      return sha256.equals(hashes.sha256()) ? "" : "SHA-256 of the manifest";
    }
    String google = headers.getOrDefault("x-goog-hash", "");
    ByteBuffer crc = ByteBuffer.allocate(4).putInt(hashes.crc32c());
    if (google.startsWith("crc32c=")
        && !google.substring(7).equals(java.util.Base64.getEncoder().encodeToString(crc.array()))) {
      return "CRC32C";
    }
    if (!object.md5().isEmpty() && !object.md5().equals(hashes.md5())) {
      return "MD5";
    }
    boolean isDigest =
        object.etag().matches(HEX_DIGITS)
            && !headers.getOrDefault("x-amz-server-side-encryption", "").startsWith("aws:kms")
            && !headers.containsKey("x-amz-server-side-encryption-customer-algorithm");
    return isDigest && !object.etag().equals(hashes.md5()) ? "ETag" : "";
  }

  /** Fetches the parts that are not there yet, several at the same time. */
  private static Map<String, String> readParts(
      HttpStore store, StoredObject object, Path partial, Path parts, AtomicLong done)
      throws IOException {
    int count = (int) ((object.size() + PART_BYTES - 1) / PART_BYTES);
    if (!Files.exists(partial)) {
      Files.deleteIfExists(parts); // a process that was killed left it
    }
    Map<String, String> headers = new HashMap<>();
    try (FileChannel file = open(partial);
        FileChannel marks = count > 1 ? open(parts) : null) {
      ByteBuffer there = ByteBuffer.allocate(count);
      if (marks != null) {
        marks.read(there, 0);
      }
      Parallel.each(
          count,
          part -> {
            long offset = part * PART_BYTES;
            long length = Math.min(PART_BYTES, object.size() - offset);
            if (there.get(part) == 1) {
              done.addAndGet(length);
              return;
            }
            Map<String, String> got = store.read(object, file, offset, length, done);
            if (marks != null) {
              file.force(false);
              marks.write(ByteBuffer.wrap(new byte[] {1}), part);
            }
            synchronized (headers) {
              headers.putAll(got);
            }
          });
      file.force(true);
    }
    return headers;
  }

  private static FileChannel open(Path file) throws IOException {
    return FileChannel.open(
        file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  private static void write(Path file, String text) throws IOException {
    Path fresh = Files.createTempFile(file.getParent(), "new-", "");
    Files.writeString(fresh, text);
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
  }

  // ---- Lists -----------------------------------------------------------------------------------

  /** Keeps the list of a repository for a time when its store cannot be reached. */
  void saveList(String repository, List<StoredObject> objects) throws IOException {
    StringBuilder text = new StringBuilder();
    for (StoredObject one : objects) {
      if (one.isSafe()) { // so that it is a line
        text.append(String.join("\t", one.etag(), "" + one.size(), one.md5(), one.key()));
        text.append('\n');
      }
    }
    write(root.resolve("lists", Hashes.sha256(repository)), text.toString());
  }

  /** The list that was kept last; null: there is none that can be read. */
  List<StoredObject> savedList(String repository) {
    try {
      List<StoredObject> objects = new ArrayList<>();
      for (String line : Files.readAllLines(root.resolve("lists", Hashes.sha256(repository)))) {
        String[] parts = line.split("\t", 4);
        objects.add(new StoredObject(parts[3], Long.parseLong(parts[1]), parts[0], parts[2]));
      }
      return objects;
    } catch (IOException | IndexOutOfBoundsException | NumberFormatException e) {
      return null;
    }
  }

  // ---- Room ------------------------------------------------------------------------------------

  /** Deletes what no process uses, the longest unused first, until the rest is small enough. */
  void trim() throws IOException {
    trimPartial();
    Map<Path, Map<String, Object>> blobs = new HashMap<>();
    try (Stream<Path> files = Files.list(root.resolve("blobs"))) {
      for (Path file : files.toList()) {
        blobs.put(file, Files.readAttributes(file, "unix:size,nlink,lastAccessTime"));
      }
    } catch (NoSuchFileException | UncheckedIOException e) {
      return; // another process is at it
    }
    List<Path> unused =
        blobs.keySet().stream()
            .filter(file -> (Integer) blobs.get(file).get("nlink") == 1)
            .sorted(Comparator.comparing(file -> (FileTime) blobs.get(file).get("lastAccessTime")))
            .toList();
    long bytes = unused.stream().mapToLong(file -> (Long) blobs.get(file).get("size")).sum();
    for (Path file : unused) {
      if (bytes <= byteLimit) {
        return;
      }
      Files.deleteIfExists(file);
      bytes -= (Long) blobs.get(file).get("size");
    }
  }

  /** Deletes what was begun and not gone on with for a day: it was replaced or deleted since. */
  private void trimPartial() throws IOException {
    FileTime oldest = FileTime.from(Instant.now().minus(LONGEST_REST));
    try (Stream<Path> files = Files.list(root.resolve("partial"))) {
      for (Path file : files.toList()) {
        if (Files.getLastModifiedTime(file).compareTo(oldest) < 0) {
          // First what says which parts are there: a file that begins anew has none of them.
          Files.deleteIfExists(file.resolveSibling(file.getFileName() + PARTS));
          Files.deleteIfExists(file);
        }
      }
    } catch (NoSuchFileException | UncheckedIOException e) {
      // Another process is at it.
    }
  }
}
