package io.nereid.server.wire;

/** Why a stream or a connection of HTTP/2 ends; the numbers of RFC 9113, section 7. */
enum Http2Error {
  NO_ERROR(0),
  PROTOCOL_ERROR(1),
  INTERNAL_ERROR(2),
  FLOW_CONTROL_ERROR(3),
  STREAM_CLOSED(5),
  FRAME_SIZE_ERROR(6),
  REFUSED_STREAM(7),
  CANCEL(8),
  COMPRESSION_ERROR(9),
  ENHANCE_YOUR_CALM(11);

  final int number;

  Http2Error(int number) {
    this.number = number;
  }
}
