package io.nereid.recording;

/**
 * The numbers of the format that {@code docs/recording.md} describes. All of it is little-endian.
 */
final class Format {

  /** The first bytes of a segment: {@code NRDREC1} and a zero. */
  static final long MAGIC = 0x0031_4345_5244_524EL;

  /**
   * The size of a segment's header: magic, start of the recording in nanoseconds since 1970, id of
   * the recording, number of the segment, and the CRC-32 of all that.
   */
  static final int HEADER_BYTES = 32;

  /** The size of what is in front of a record's body: its length and its CRC-32. */
  static final int FRAME_BYTES = 8;

  // The first byte of a body.
  static final byte CONTENT = 1;
  static final byte REQUEST = 2;
  static final byte DROPPED = 3;
  static final byte END = 4;

  // Content: type, coding, number (int), size (long).
  static final int CONTENT_HEAD_BYTES = 14;
  static final byte RAW = 0;
  static final byte DEFLATED = 1;

  // Flags of a request.
  static final int INLINE = 1;
  static final int CACHE_HIT = 2;
  static final int SEQUENCE_START = 4;
  static final int SEQUENCE_END = 8;

  // The presence of a tensor's content.
  static final byte THERE = 0;
  static final byte REDACTED = 1;
  static final byte ON_DEVICE = 2;

  // Kinds of parameters.
  static final byte BOOLEAN = 0;
  static final byte INTEGER = 1;
  static final byte NUMBER = 2;
  static final byte TEXT = 3;
  static final byte LARGE_INTEGER = 4;

  /** The beginning and the end of a segment's file name. */
  static final String PREFIX = "nereid-";

  static final String SUFFIX = ".nrec";

  private Format() {}
}
