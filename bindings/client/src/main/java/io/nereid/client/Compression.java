package io.nereid.client;

/** How bodies of inference are made smaller on the wire. */
public enum Compression {
  /** Not at all. */
  NONE("identity"),
  /** Gzip, over both protocols. */
  GZIP("gzip"),
  /** The format of zlib, over HTTP only. */
  DEFLATE("deflate");

  private final String coding;

  Compression(String coding) {
    this.coding = coding;
  }

  /** Its name in headers. */
  String coding() {
    return coding;
  }
}
