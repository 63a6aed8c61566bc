package io.nereid.server.wire;

/** Numbers of RFC 9113 for frames, their flags, and settings. */
final class Http2Frame {

  // Types.
  static final int DATA = 0;
  static final int HEADERS = 1;
  static final int PRIORITY = 2;
  static final int RESET = 3;
  static final int SETTINGS = 4;
  static final int PUSH_PROMISE = 5;
  static final int PING = 6;
  static final int GO_AWAY = 7;
  static final int WINDOW_UPDATE = 8;
  static final int CONTINUATION = 9;

  // Flags.
  static final int ACK = 0x1;
  static final int END_STREAM = 0x1;
  static final int END_HEADERS = 0x4;
  static final int PADDED = 0x8;
  static final int WITH_PRIORITY = 0x20;

  // Settings.
  static final int HEADER_TABLE_SIZE = 1;
  static final int ENABLE_PUSH = 2;
  static final int MAX_CONCURRENT_STREAMS = 3;
  static final int INITIAL_WINDOW_SIZE = 4;
  static final int MAX_FRAME_SIZE = 5;
  static final int MAX_HEADER_LIST_SIZE = 6;

  // Bytes.
  static final int HEADER_BYTES = 9;
  static final int SETTING_BYTES = 6;
  static final int PRIORITY_BYTES = 5;
  static final int GO_AWAY_BYTES = 8;

  /** The longest frame behind its header, unless its receiver allows longer ones. */
  static final int MOST_BYTES = 16 << 10;

  /** What receivers may allow at most. */
  static final int LARGEST_BYTES = (1 << 24) - 1;

  /** What windows begin with. */
  static final int FIRST_WINDOW_BYTES = 65_535;

  private Http2Frame() {}
}
