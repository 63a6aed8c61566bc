package io.nereid.perf;

/** How requests travel. */
enum Protocol {
  HTTP(8000),
  GRPC(8001);

  private final int usualPort;

  Protocol(int usualPort) {
    this.usualPort = usualPort;
  }

  int usualPort() {
    return usualPort;
  }
}
