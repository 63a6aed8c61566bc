package io.nereid.stores;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;
import org.gaul.s3proxy.AuthenticationType;
import org.gaul.s3proxy.S3Proxy;
import org.jclouds.ContextBuilder;
import org.jclouds.blobstore.BlobStore;
import org.jclouds.blobstore.BlobStoreContext;
import org.jclouds.blobstore.options.ListContainerOptions;

/**
 * A server of Amazon's protocol in this process, which checks signatures and keeps all in memory.
 */
final class S3Server implements AutoCloseable {

  static final String BUCKET = "bucket";

  private final BlobStoreContext context;
  private final S3Proxy proxy;

  private S3Server(BlobStoreContext context, S3Proxy.Builder builder) throws Exception {
    this.context = context;
    proxy = builder.blobStore(context.getBlobStore()).ignoreUnknownHeaders(true).build();
    context.getBlobStore().createContainerInLocation(null, BUCKET);
    proxy.start();
  }

  static S3Server start() throws Exception {
    return new S3Server(newContext(), signed().endpoint(URI.create("http://127.0.0.1:0")));
  }

  /** One that asks nobody who he is. */
  static S3Server startOpen() throws Exception {
    S3Proxy.Builder open = S3Proxy.builder().awsAuthentication(AuthenticationType.NONE, "", "");
    return new S3Server(newContext(), open.endpoint(URI.create("http://127.0.0.1:0")));
  }

  /** One that speaks TLS with the certificate in a key store. */
  static S3Server startTls(Path keyStore, String password) throws Exception {
    return new S3Server(
        newContext(),
        signed()
            .secureEndpoint(URI.create("https://127.0.0.1:0"))
            .keyStore(keyStore.toString(), password));
  }

  private static S3Proxy.Builder signed() {
    return S3Proxy.builder().awsAuthentication(AuthenticationType.AWS_V4, "key", "secret");
  }

  private static BlobStoreContext newContext() {
    return ContextBuilder.newBuilder("transient-nio2")
        .credentials("key", "secret")
        .overrides(new Properties())
        .build(BlobStoreContext.class);
  }

  /** The variables by which a client may ask. */
  static Map<String, String> environment() {
    return Map.of("AWS_ACCESS_KEY_ID", "key", "AWS_SECRET_ACCESS_KEY", "secret");
  }

  int port() {
    return proxy.getPort() > 0 ? proxy.getPort() : proxy.getSecurePort();
  }

  BlobStore blobs() {
    return context.getBlobStore();
  }

  void put(String key, byte[] content) {
    blobs()
        .putBlob(
            BUCKET,
            blobs().blobBuilder(key).payload(content).contentLength(content.length).build());
  }

  /** Puts all files below a directory, below a key. */
  void putAll(String key, Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        put(key + "/" + directory.relativize(file), Files.readAllBytes(file));
      }
    }
  }

  void delete(String key) {
    blobs().removeBlob(BUCKET, key);
  }

  void deleteAll(String prefix) {
    blobs().list(BUCKET, ListContainerOptions.Builder.recursive().prefix(prefix)).stream()
        .map(one -> one.getName())
        .toList()
        .forEach(this::delete);
  }

  String url(String prefix) {
    return "s3://127.0.0.1:" + port() + "/" + BUCKET + "/" + prefix;
  }

  @Override
  public void close() {
    try {
      proxy.stop();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    context.close();
  }
}
